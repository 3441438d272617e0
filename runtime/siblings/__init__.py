"""Sibling formats that are text or binary, or folders of files."""
