"""Summaries, statistics and differences of models."""
