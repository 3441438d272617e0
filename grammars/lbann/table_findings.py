"""The findings when LBANN's samples become tables, or tables become samples. Their codes are
stable.
"""

from typing import Final

from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.lbann:lbann-tables.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""
