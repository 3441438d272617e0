"""The findings when manifests and blocks become tables, or tables become manifests and blocks.

Their codes are stable.
"""

from typing import Final

from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.aeon:manifest-tables.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""
