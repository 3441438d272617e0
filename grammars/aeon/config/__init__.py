"""aeon loader configurations: the schema of each version, and what checks and translates them."""
