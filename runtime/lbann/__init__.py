"""LBANN sample lists and schemas with the HDF5 files that they describe."""
