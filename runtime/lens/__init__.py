"""Lens example sets as arrays, datasets, statistics and plots."""
