"""The findings of schemas and of their HDF5 data. Codes are stable: programs may select by them."""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Finding, Place, Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING = Severity.NOTE, Severity.WARNING

RULES: Final = MappingProxyType(
    {
        "lbann-refuses": Rule(_WARNING, "LBANN fails on this: {what}", "{hint}"),
        # Text
        "lbann-odd-scalar": Rule(_WARNING, "LBANN reads {raw} as {meaning}", "{hint}"),
        "lbann-merge-key": Rule(
            _WARNING,
            "LBANN does not merge mappings: it reads `<<` as an ordinary name",
            "write the merged content here",
        ),
        "lbann-tag": Rule(_WARNING, "LBANN ignores the tag {raw}", "remove it"),
        "lbann-second-document": Rule(
            _WARNING, "LBANN reads the first YAML document only", "remove the others"
        ),
        "lbann-nul": Rule(_WARNING, "LBANN cuts a text at its first NUL", "remove the NUL"),
        # Tree
        "lbann-discarded": Rule(
            _WARNING,
            "LBANN ignores this value",
            "write directives under `metadata:`, with a blank after each colon",
        ),
        "lbann-directive-as-field": Rule(
            _WARNING,
            "LBANN reads {raw} as a field, because it is not under `metadata:`",
            "if it is the directive, write it under `metadata:`",
        ),
        "lbann-slash": Rule(
            _WARNING,
            "a name with a slash matches nothing in an HDF5 file",
            "write a group, with the field below it",
        ),
        "lbann-unknown-directive": Rule(
            _WARNING, "unknown directive {raw}: LBANN keeps it, with a warning", "{hint}"
        ),
        "lbann-replaced": Rule(
            _NOTE,
            "the experiment schema replaces {name} of {path}: what it sets for a group overrides"
            " what the data schema sets for a field",
            "to change it for this field, set it for the field in the experiment schema",
        ),
        # Directives
        "lbann-first-value": Rule(_WARNING, "LBANN uses only the first value of {name}", "{hint}"),
        "lbann-unused": Rule(_WARNING, "{name} has no effect: {reason}", "{hint}"),
        "lbann-ordering": Rule(
            _WARNING,
            "several fields of {group} have the ordering {value}: LBANN packs them in any order,"
            " exset in the order of their names",
            "give each field its own ordering",
        ),
        "lbann-hidden-field": Rule(
            _WARNING,
            "the packed group {group} hides the field of the same name",
            "rename the group",
        ),
        "lbann-group-name": Rule(
            _WARNING,
            "LBANN does not look for a packed group {group}: its own names are samples, labels and"
            " responses",
            "rename it to {plural}, unless a layer of the model asks for {group}",
        ),
        # Data
        "lbann-not-float": Rule(
            _NOTE, "{path} is {dtype}, not a float: LBANN warns and goes on", "{hint}"
        ),
        "lbann-dims": Rule(
            _WARNING,
            "dims and channels of {path} make {size} values, but the field has {count}",
            "correct dims: they are the shape of one channel",
        ),
        "lbann-narrowed": Rule(
            _WARNING,
            "{path}: integers beyond {dtype} wrap around",
            "coerce to a wider type",
        ),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding by the rule of a code, at a place; words fill in its message."""


def wrong_suffix(name: str) -> Finding | None:
    """Return the finding of a file that LBANN cannot load because of its suffix, or None."""
    if not name.endswith(".yml"):
        return None
    what = "the suffix .yml is not .yaml"
    return finding_at("lbann-refuses", Place.of(name), what=what, hint="rename the file")
