"""From abstract syntax to the world: numbers about a set; arrays and batches."""
