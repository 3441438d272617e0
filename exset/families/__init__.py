"""The records of all families and their formats, with one module for each family."""
