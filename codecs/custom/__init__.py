"""Layouts of your own, run by the binary engine."""
