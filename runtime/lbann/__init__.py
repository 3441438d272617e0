"""LBANN sample lists and schemas, used with the HDF5 files that they describe."""
