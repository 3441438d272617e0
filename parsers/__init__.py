"""Parse texts to models and write them back: a module for each format, and the engine for
grammars.
"""
