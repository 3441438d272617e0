"""Hypothesis strategies for tables that shards can store."""

from hypothesis import strategies as st

from exset.grammars.tables.table import Table
from exset.testing.tables import tables


def flat_tables() -> st.SearchStrategy[Table]:
    """Return a strategy for tables without lists of records."""
    return tables(nested=False)
