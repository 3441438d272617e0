"""What aeon accepts in manifests but people are caught by, and what it fails on when it reads them.

A code is stable: programs may select findings by it.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_FAILS: Final = "aeon parses the manifest and fails when it reads the record"

RULES: Final = MappingProxyType(
    {
        "aeon-dialect": Rule(
            _NOTE,
            "there is no header: read as the dialect {dialect}, all elements files",
            "{advice}aeon refuses this since June 2017: exset convert --dialect head, or"
            ' dialect="head", writes a header',
        ),
        "aeon-no-records": Rule(
            _WARNING, "there are no records", "aeon's loader refuses such a manifest"
        ),
        "aeon-extra-fields": Rule(
            _WARNING,
            "records have {width} fields, the header has {types}: the others are dropped",
            "aeon refuses this since June 2017; name a type for each field",
        ),
        # Elements
        "aeon-carriage-return": Rule(
            _WARNING,
            "the record ends in a carriage return, which belongs to its last field",
            "a FILE is looked for under a name that ends in it, a STRING keeps it: save the"
            " manifest with Unix line ends, as dos2unix does",
        ),
        "aeon-empty-path": Rule(
            _ERROR,
            "the path is empty: there is no such file, and with a manifest_root it is a folder, on"
            " which aeon never ends",
            "name a file",
        ),
        "aeon-number-tail": Rule(
            _WARNING,
            "{raw} goes on after its number, which is ignored",
            "write the number alone, its decimals after a point",
        ),
        "aeon-int-fraction": Rule(
            _WARNING, "{raw} has a fraction, which is cut off", "write a whole number"
        ),
        "aeon-int-overflow": Rule(
            _WARNING,
            "{raw} is no 32-bit integer: it becomes -2147483648 on x86-64, and anything elsewhere",
            "check the number",
        ),
        "aeon-no-number": Rule(
            _ERROR,
            "{raw} is no number",
            f"{_FAILS}: number the classes, or let the type be STRING",
        ),
        "aeon-number-range": Rule(
            _ERROR, "{raw} is too large or too small for aeon to read", _FAILS
        ),
        "aeon-lax-base64": Rule(
            _WARNING,
            "bytes that are no base64 are read as zeros, and what follows padding is ignored",
            "check how the field was written: the alphabet is A-Z a-z 0-9 + /",
        ),
        "aeon-base64-memory": Rule(
            _ERROR,
            "what this decodes to depends on what lies in memory: it is not padded, or has bytes"
            " above 127",
            "write base64 and nothing else, padded with = to groups of four",
        ),
        # Files
        "aeon-file-missing": Rule(_ERROR, "there is no file `{path}`", "{hint}"),
        "aeon-file-outside": Rule(
            _ERROR,
            "{path} lies outside of the roots",
            "name its folder with --root FOLDER, if the manifest is to be trusted",
        ),
        "aeon-file-folder": Rule(
            _ERROR, "{path} is a folder: aeon never finishes reading it", "name a file"
        ),
        "aeon-file-irregular": Rule(_ERROR, "{path} is no regular file", "name a file"),
        "aeon-file-closed": Rule(
            _ERROR,
            "{path} may not be read",
            "chmod +r lets it be read; or ask as the user for whom aeon will run",
        ),
        "aeon-file-empty": Rule(
            _WARNING,
            "the file {path} is empty",
            "aeon reads it, and fails on the empty element whatever it is for",
        ),
        "aeon-file-huge": Rule(
            _ERROR,
            "the file {path} has 2 GiB or more: aeon reads it as zeros",
            "divide it",
        ),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding by the rule of a code, at a place; words fill in its message."""
