"""Code that text formats of several families use: JSON and YAML trees, numbers as text."""
