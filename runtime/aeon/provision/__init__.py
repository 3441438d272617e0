"""aeon's loader: decode and augment the elements of records, and make batches of the records."""
