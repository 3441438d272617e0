"""The columns of which all models consist: flat read-only NumPy arrays."""
