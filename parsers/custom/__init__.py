"""Grammars of your own, run by the engine."""
