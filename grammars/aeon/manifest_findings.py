"""The findings of aeon's manifests and of the files that they name. Their codes are stable."""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_FAILS: Final = "aeon accepts the manifest, and fails when it reads the record"

RULES: Final = MappingProxyType(
    {
        "aeon-dialect": Rule(
            _NOTE,
            "the header is missing: read as the dialect {dialect}, with all columns of type FILE",
            "{advice}aeon rejects this since June 2017: exset convert --dialect head, or"
            ' dialect="head", adds a header',
        ),
        "aeon-no-records": Rule(
            _WARNING, "the manifest has no records", "aeon's loader rejects it"
        ),
        "aeon-extra-fields": Rule(
            _WARNING,
            "records have {width} fields, but the header has {types}: the last fields are dropped",
            "aeon rejects this since June 2017; add a type for each field",
        ),
        # Elements
        "aeon-carriage-return": Rule(
            _WARNING,
            "the record ends with a carriage return, which belongs to its last field",
            "aeon looks for a FILE with this name, and a STRING keeps the byte: save the manifest"
            " with Unix line ends, as dos2unix does",
        ),
        "aeon-empty-path": Rule(
            _ERROR,
            "the path is empty: aeon finds no file, or with manifest_root reads a folder and hangs",
            "name a file",
        ),
        "aeon-number-tail": Rule(
            _WARNING,
            "aeon ignores the end of {raw}, after the number",
            "write only the number, with a decimal point",
        ),
        "aeon-int-fraction": Rule(
            _WARNING, "aeon drops the fraction of {raw}", "write a whole number"
        ),
        "aeon-int-overflow": Rule(
            _WARNING,
            "{raw} is not a 32-bit integer: on x86-64 it becomes -2147483648, elsewhere any number",
            "check the number",
        ),
        "aeon-no-number": Rule(
            _ERROR, "{raw} is not a number", f"{_FAILS}: number the classes, or use the type STRING"
        ),
        "aeon-number-range": Rule(_ERROR, "{raw} is too large or too small for aeon", _FAILS),
        "aeon-lax-base64": Rule(
            _WARNING,
            "the base64 is invalid: aeon decodes other bytes as zeros, and ignores bytes after `=`",
            "encode the field again: the alphabet is A-Z a-z 0-9 + /",
        ),
        "aeon-base64-memory": Rule(
            _ERROR,
            "the base64 lacks padding or has bytes above 127: aeon's result depends on other data"
            " in its memory",
            "encode the field again, padded with = to groups of four",
        ),
        # Files
        "aeon-file-missing": Rule(_ERROR, "the file `{path}` does not exist", "{hint}"),
        "aeon-file-outside": Rule(
            _ERROR,
            "{path} is outside the allowed folders",
            "if you trust the manifest, allow its folder with --root FOLDER",
        ),
        "aeon-file-folder": Rule(_ERROR, "{path} is a folder: aeon hangs on it", "name a file"),
        "aeon-file-irregular": Rule(_ERROR, "{path} is not a regular file", "name a file"),
        "aeon-file-closed": Rule(
            _ERROR,
            "{path} is not readable",
            "allow reading with chmod +r; or run exset as the user who runs aeon",
        ),
        "aeon-file-empty": Rule(
            _WARNING, "the file {path} is empty", "aeon reads it, then fails on the empty element"
        ),
        "aeon-file-huge": Rule(
            _ERROR,
            "the file {path} has 2 GiB or more: aeon reads only zeros",
            "split the file",
        ),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding from its code, its place and the words of its message."""
