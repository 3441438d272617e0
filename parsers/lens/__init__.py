"""Lens example files, text (.ex): parsing, checks and writing."""
