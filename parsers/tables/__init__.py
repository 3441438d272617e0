"""Tables as text: parsers and writers."""
