"""Text to abstract syntax and back: a module for each format, and the engine of the grammars."""
