"""Lens example sets: their columns, views, builders and findings."""
