"""aeon loader configurations: the schema of each version, checks, and translation."""
