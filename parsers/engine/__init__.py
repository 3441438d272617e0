"""Run the grammars of `exset.grammars`: from bytes to a stream of tokens and steps."""
