"""The findings of Lens text and binary files.

A code is stable: programs may select findings by it.
"""

from types import MappingProxyType
from typing import Final

from exset.core.errors import Finding, Place
from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.lens:lens.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""

LONG: Final = 4096
"""The longest string, in bytes, that Lens can save as text; it crashes on longer ones."""
LONG_STRING: Final = MappingProxyType(
    {
        "what": f"it crashes when it saves a string of more than {LONG} bytes as text",
        "hint": "exset reads and writes the string unchanged",
    }
)
"""The values that fill in the message of `lens-refuses` for a string longer than `LONG`."""

MAX_GROUPS: Final = 12
"""The number of group names that Lens can hold (registerGroupName)."""


def too_many_groups(count: int, place: Place) -> Finding | None:
    """Return the finding for a set with more group names than Lens allows, or None.

    count: the number of group names.
    """
    if count <= MAX_GROUPS:
        return None
    what = f"it crashes on more than {MAX_GROUPS} group names"
    hint = "use fewer group names, or a build of Lens in which registerGroupName is fixed"
    return finding_at("lens-refuses", place, what=what, hint=hint)
