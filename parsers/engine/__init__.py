"""Runs the grammars of `exset.grammars`: bytes in, the stream of what was parsed out."""
