"""The grammars of the text formats, and the models of all families.

The data of a model are columns.
"""
