"""The records of all families and their formats: one module a family."""
