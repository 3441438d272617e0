"""The findings of schemas and of their HDF5 data. Codes are stable: programs may select by them."""

from typing import Final

from exset.core.errors import Finding, Place
from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.lbann:schemas.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""


def wrong_suffix(name: str) -> Finding | None:
    """Return the finding for a file name with a suffix that LBANN does not load, or None."""
    if not name.endswith(".yml"):
        return None
    what = "the suffix .yml is not .yaml"
    return finding_at("lbann-refuses", Place(name), what=what, hint="rename the file")
