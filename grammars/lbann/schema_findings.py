"""What LBANN accepts in schemas but people are caught by, and what it refuses and exset does not.

A code is stable: programs may select findings by it.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING = Severity.NOTE, Severity.WARNING

RULES: Final = MappingProxyType(
    {
        "lbann-refuses": Rule(_WARNING, "LBANN fails on this: {what}", "{hint}"),
        # Text
        "lbann-odd-scalar": Rule(_WARNING, "{raw} is {meaning} to LBANN", "{hint}"),
        "lbann-merge-key": Rule(
            _WARNING,
            "LBANN merges nothing: `<<` is a name like any other",
            "write out what should be here",
        ),
        "lbann-tag": Rule(_WARNING, "LBANN ignores the tag {raw}", "remove it"),
        "lbann-second-document": Rule(
            _WARNING, "LBANN reads the first document alone", "remove what follows"
        ),
        "lbann-nul": Rule(_WARNING, "LBANN reads a text up to its first NUL", "remove it"),
        # Tree
        "lbann-discarded": Rule(
            _WARNING,
            "this value means nothing: LBANN throws it away",
            "directives stand under `metadata:`, each with a blank after its colon",
        ),
        "lbann-directive-as-field": Rule(
            _WARNING,
            "{raw} stands outside of metadata: LBANN takes it for a field",
            "put it under `metadata:` if it is the directive",
        ),
        "lbann-slash": Rule(
            _WARNING,
            "a name with a slash in it is found in no HDF5 file",
            "write a group and a field below it",
        ),
        "lbann-unknown-directive": Rule(
            _WARNING, "LBANN knows no directive {raw}: it warns, and keeps it", "{hint}"
        ),
        "lbann-replaced": Rule(
            _NOTE,
            "{name} of {path} is replaced: what the experiment schema says of a group comes before"
            " what the data schema says of a field",
            "say it of the field in the experiment schema",
        ),
        # Directives
        "lbann-first-value": Rule(_WARNING, "only the first value of {name} is used", "{hint}"),
        "lbann-unused": Rule(_WARNING, "{name} has no effect: {why}", "{hint}"),
        "lbann-ordering": Rule(
            _WARNING,
            "several fields of {group} have the ordering {value}: LBANN may pack them in any order;"
            " here it is that of their names",
            "give each an ordering of its own",
        ),
        "lbann-hidden-field": Rule(
            _WARNING, "the packed group {group} takes the place of the field", "rename the group"
        ),
        # Data
        "lbann-not-float": Rule(
            _NOTE, "{path} is {kind}: LBANN says that it is no real number, and goes on", "{hint}"
        ),
        "lbann-dims": Rule(
            _WARNING,
            "dims and channels of {path} make {said} values, of which there are {count}",
            "mend dims: they are the extents of one channel",
        ),
        "lbann-narrowed": Rule(
            _WARNING,
            "{path}: numbers beyond {kind} wrap round",
            "coerce to a wider type",
        ),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding by the rule of a code, at a place; words fill in its message."""
