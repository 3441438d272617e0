"""The columns in which all models store their data: flat read-only NumPy arrays."""
