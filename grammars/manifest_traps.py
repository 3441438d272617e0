"""What aeon accepts in manifests but people are caught by, and what it fails on when it reads them.

A code is stable: programs may select findings by it.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.errors import Severity
from exset.grammars.traps import Trap, trap_of

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_FAILS: Final = "aeon parses the manifest and fails when it reads the record"

TRAPS: Final = MappingProxyType(
    {
        "aeon-dialect": Trap(
            _NOTE,
            "there is no header: read as the dialect {dialect}, all elements files",
            "{advice}aeon refuses this since June 2017: exset convert --dialect head, or"
            ' dialect="head", writes a header',
        ),
        "aeon-no-records": Trap(
            _WARNING, "there are no records", "aeon's loader refuses such a manifest"
        ),
        "aeon-extra-fields": Trap(
            _WARNING,
            "records have {width} fields, the header has {types}: the others are dropped",
            "aeon refuses this since June 2017; name a type for each field",
        ),
        # Elements
        "aeon-carriage-return": Trap(
            _WARNING,
            "the record ends in a carriage return, which belongs to its last field",
            "a FILE is looked for under a name that ends in it, a STRING keeps it: save the"
            " manifest with Unix line ends, as dos2unix does",
        ),
        "aeon-empty-path": Trap(
            _ERROR,
            "the path is empty: there is no such file, and with a manifest_root it is a folder, on"
            " which aeon never ends",
            "name a file",
        ),
        "aeon-number-tail": Trap(
            _WARNING,
            "{raw} goes on after its number, which is ignored",
            "write the number alone, its decimals after a point",
        ),
        "aeon-int-fraction": Trap(
            _WARNING, "{raw} has a fraction, which is cut off", "write a whole number"
        ),
        "aeon-int-overflow": Trap(
            _WARNING,
            "{raw} is no 32-bit integer: it becomes -2147483648 on x86-64, and anything elsewhere",
            "check the number",
        ),
        "aeon-no-number": Trap(
            _ERROR,
            "{raw} is no number",
            f"{_FAILS}: number the classes, or let the type be STRING",
        ),
        "aeon-number-range": Trap(
            _ERROR, "{raw} is too large or too small for aeon to read", _FAILS
        ),
        "aeon-lax-base64": Trap(
            _WARNING,
            "bytes that are no base64 are read as zeros, and what follows padding is ignored",
            "check how the field was written: the alphabet is A-Z a-z 0-9 + /",
        ),
        "aeon-base64-memory": Trap(
            _ERROR,
            "what this decodes to depends on what lies in memory: it is not padded, or has bytes"
            " above 127",
            "write base64 and nothing else, padded with = to groups of four",
        ),
        # Files
        "aeon-file-missing": Trap(_ERROR, "there is no file `{path}`", "{hint}"),
        "aeon-file-outside": Trap(
            _ERROR,
            "{path} lies outside of the roots",
            "name its folder with --root FOLDER, if the manifest is to be trusted",
        ),
        "aeon-file-folder": Trap(
            _ERROR, "{path} is a folder: aeon never finishes reading it", "name a file"
        ),
        "aeon-file-irregular": Trap(_ERROR, "{path} is no regular file", "name a file"),
        "aeon-file-closed": Trap(
            _ERROR,
            "{path} may not be read",
            "chmod +r lets it be read; or ask as the user for whom aeon will run",
        ),
        "aeon-file-empty": Trap(
            _WARNING,
            "the file {path} is empty",
            "aeon reads it, and fails on the empty element whatever it is for",
        ),
        "aeon-file-huge": Trap(
            _ERROR,
            "the file {path} has 2 GiB or more: aeon reads it as zeros",
            "divide it",
        ),
    }
)


trap: Final = partial(trap_of, TRAPS)
"""The finding of a trap at a place, its message filled in with words."""
