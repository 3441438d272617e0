"""Tables: rows and named columns. Each family converts to tables and back, and so to other
families.
"""
