"""aeon loader configurations: the schema of each version of aeon, checks, and translation between
versions.
"""
