"""The findings of aeon's cache blocks, caches, and cpio archives. Their codes are stable."""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_REBUILD: Final = "exset cache repair rebuilds it from the manifest"

RULES: Final = MappingProxyType(
    {
        # A block
        "aeon-block-shift": Rule(
            _ERROR,
            "the block has {elements} elements for {records} records{whose}; aeon reads all later"
            " elements as those of other records, without an error",
            "fields of the manifest failed when the cache was built: fix them, then rebuild it",
        ),
        "aeon-block-empty": Rule(
            _WARNING,
            "the block has no records: aeon of 2020 rejects it, aeon of 2017 stops reading",
            "build the cache with another block size",
        ),
        "aeon-block-width": Rule(
            _ERROR,
            "the block has {elements} for {records}: nothing says which record has which elements",
            "exset validate shows what is wrong; exset cache extract --damaged extracts the intact"
            " records",
        ),
        "aeon-block-no-trailer": Rule(
            _WARNING, "the entry cpiotlr after the last element is missing", "aeon ignores it"
        ),
        "aeon-block-no-end": Rule(
            _WARNING,
            "the file ends before the entry TRAILER!!!, which cpio needs and aeon ignores",
            "exset convert writes a complete block",
        ),
        "aeon-block-version": Rule(
            _WARNING, "the format version is {version}, not 1: aeon ignores it", ""
        ),
        "aeon-block-2016": Rule(
            _NOTE,
            "the header has the sizes of the items, as aeon wrote them until 2016",
            "exset keeps them; no program uses them",
        ),
        # Any archive
        "cpio-name": Rule(
            _WARNING, "the name does not end with a NUL byte: its last byte is dropped", ""
        ),
        "cpio-trailing-bytes": Rule(
            _WARNING, "{count} bytes follow the end of the archive: they are ignored", ""
        ),
        "cpio-not-a-file": Rule(
            _WARNING,
            "{name} is not a regular file: a block cannot store it",
            "--lossy leaves it out",
        ),
        "cpio-loss": Rule(_WARNING, "an archive cannot store {what}", "--lossy leaves them out"),
        "cpio-unsafe-name": Rule(
            _ERROR, "{name} is not extracted: {why}", "exset info lists the archive"
        ),
        # A cache
        "aeon-cache-incomplete": Rule(
            _ERROR,
            "the marker cache_complete is missing: aeon of 2020 rebuilds the cache, aeon of 2017"
            " uses every block in the folder, even half of one",
            "exset cache repair or exset cache build completes the cache",
        ),
        "aeon-cache-lock": Rule(
            _WARNING,
            "the cache is locked: {who} made caching_in_progress",
            "if its process has ended, the next build takes over the lock; remove a lock from"
            " another machine yourself",
        ),
        "aeon-cache-gap": Rule(_ERROR, "block {number} is missing", _REBUILD),
        "aeon-cache-block": Rule(_ERROR, "block {number} is damaged: {why}", _REBUILD),
        "aeon-cache-none": Rule(_ERROR, "the folder has no blocks", ""),
        "aeon-cache-name": Rule(
            _WARNING,
            "the folder's name {name} is not that of a cache: aeon does not find it",
            "exset cache predict MANIFEST prints the name",
        ),
        "aeon-cache-uid": Rule(
            _ERROR,
            "the cache is that of {found}, but the manifest has the checksum {wanted}",
            "name the manifest and the options that the cache was built with; if the folder was"
            " renamed, call it aeon_cache_{wanted} again",
        ),
        "aeon-cache-other": Rule(_NOTE, "the file `{name}` does not belong to a cache", ""),
        "aeon-cache-width": Rule(
            _ERROR, "the records of block {number} have {width}, not {wanted}", _REBUILD
        ),
        "aeon-cache-count": Rule(
            _ERROR,
            "block {number} is not that of the manifest with block size {size}: {why}",
            "{hint}",
        ),
        "aeon-cache-empty-block": Rule(
            _WARNING,
            "with block size {size}, aeon of 2020 expects an empty last block of the {records}"
            " records, and never completes its cache",
            "choose another block size",
        ),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding from its code, its place and the words of its message."""
