"""Parse and write text formats of tables: CSV, and lists of files."""
