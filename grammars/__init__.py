"""What the languages are: the grammars, and the abstract syntax of each family as columns."""
