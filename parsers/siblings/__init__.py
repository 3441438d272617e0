"""Sibling formats: texts of patterns, features and lists that tables hold."""
