"""Tables: rows and named columns, through which every family converts to every other."""
