"""HDF5 files that may be hostile: find objects, read data, write tables."""
