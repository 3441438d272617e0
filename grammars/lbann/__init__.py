"""LBANN sample lists and schemas: their columns and findings."""
