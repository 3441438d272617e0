"""Hypothesis strategies for tables in HDF5 files that store each row as a group."""

from hypothesis import strategies as st

from exset.grammars.tables.table import Table
from exset.testing.tables import tables


def group_tables() -> st.SearchStrategy[Table]:
    """Return a strategy for tables, many of which have columns that such a file can store."""
    return st.one_of(tables(nested=False), tables())
