"""The grammars of the text formats, and the models of each family: its data as columns."""
