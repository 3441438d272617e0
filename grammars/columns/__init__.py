"""The columns that every family is made of: flat read-only NumPy arrays."""
