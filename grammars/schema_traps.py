"""What LBANN accepts in schemas but people are caught by, and what it refuses and exset does not.

A code is stable: programs may select findings by it.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.errors import Severity
from exset.grammars.traps import Trap, trap_of

_NOTE, _WARNING = Severity.NOTE, Severity.WARNING

TRAPS: Final = MappingProxyType(
    {
        "lbann-refuses": Trap(_WARNING, "LBANN fails on this: {what}", "{hint}"),
        # Text
        "lbann-odd-scalar": Trap(_WARNING, "{raw} is {meaning} to LBANN", "{hint}"),
        "lbann-merge-key": Trap(
            _WARNING,
            "LBANN merges nothing: `<<` is a name like any other",
            "write out what should be here",
        ),
        "lbann-tag": Trap(_WARNING, "LBANN ignores the tag {raw}", "remove it"),
        "lbann-second-document": Trap(
            _WARNING, "LBANN reads the first document alone", "remove what follows"
        ),
        "lbann-nul": Trap(_WARNING, "LBANN reads a text up to its first NUL", "remove it"),
        # Tree
        "lbann-discarded": Trap(
            _WARNING,
            "this value means nothing: LBANN throws it away",
            "directives stand under `metadata:`, each with a blank after its colon",
        ),
        "lbann-directive-as-field": Trap(
            _WARNING,
            "{raw} stands outside of metadata: LBANN takes it for a field",
            "put it under `metadata:` if it is the directive",
        ),
        "lbann-slash": Trap(
            _WARNING,
            "a name with a slash in it is found in no HDF5 file",
            "write a group and a field below it",
        ),
        "lbann-unknown-directive": Trap(
            _WARNING, "LBANN knows no directive {raw}: it warns, and keeps it", "{hint}"
        ),
        "lbann-replaced": Trap(
            _NOTE,
            "{name} of {path} is replaced: what the experiment schema says of a group comes before"
            " what the data schema says of a field",
            "say it of the field in the experiment schema",
        ),
        # Directives
        "lbann-first-value": Trap(_WARNING, "only the first value of {name} is used", "{hint}"),
        "lbann-unused": Trap(_WARNING, "{name} has no effect: {why}", "{hint}"),
        "lbann-ordering": Trap(
            _WARNING,
            "several fields of {group} have the ordering {value}: LBANN may pack them in any order;"
            " here it is that of their names",
            "give each an ordering of its own",
        ),
        "lbann-hidden-field": Trap(
            _WARNING, "the packed group {group} takes the place of the field", "rename the group"
        ),
        # Data
        "lbann-not-float": Trap(
            _NOTE, "{path} is {kind}: LBANN says that it is no real number, and goes on", "{hint}"
        ),
        "lbann-dims": Trap(
            _WARNING,
            "dims and channels of {path} make {said} values, of which there are {count}",
            "mend dims: they are the extents of one channel",
        ),
        "lbann-narrowed": Trap(
            _WARNING,
            "{path}: numbers beyond {kind} wrap round",
            "coerce to a wider type",
        ),
    }
)


trap: Final = partial(trap_of, TRAPS)
"""The finding of a trap at a place, its message filled in with words."""
