"""Read HDF5 files safely, even hostile files: find objects and read data. Also write tables."""
