"""LBANN sample lists, label files and schemas: parsing and writing."""
