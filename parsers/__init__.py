"""Text to abstract syntax and back: one module a format, and the engine that runs the grammars."""
