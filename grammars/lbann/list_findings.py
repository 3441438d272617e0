"""The findings of sample lists and label files. Codes are stable: programs may select by them."""

from typing import Final

from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.lbann:sample-lists.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""
