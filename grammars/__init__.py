"""The grammars of the text formats, and the models of all families: their data are columns."""
