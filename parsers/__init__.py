"""Parse texts to models, and write models as texts.

There is a module for each format, and the engine, which runs grammars.
"""
