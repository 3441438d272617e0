"""The languages of the text formats: grammars, and each family's abstract syntax as columns."""
