"""Run the grammars of `exset.grammars`: parse bytes to a stream of tokens and parser steps."""
