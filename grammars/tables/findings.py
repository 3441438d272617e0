"""The findings of tables and of the formats that store tables. Their codes are stable."""

from typing import Final

from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.tables:tables.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""
