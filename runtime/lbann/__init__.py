"""LBANN sample lists and schemas, together with the HDF5 files that they describe."""
