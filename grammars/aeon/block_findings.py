"""What is wrong or doubtful in aeon's cache blocks and caches, as findings.

A code is stable: programs may select findings by it.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_REBUILD: Final = "exset cache repair builds it anew from the manifest"

RULES: Final = MappingProxyType(
    {
        # A block
        "aeon-block-shift": Rule(
            _ERROR,
            "{elements} elements are not {records} records{whose}: aeon takes the elements that"
            " follow for those of other records, and says nothing",
            "the manifest had fields that failed when the cache was made; mend them and build it"
            " anew",
        ),
        "aeon-block-empty": Rule(
            _WARNING,
            "there are no records: aeon (2020) refuses the block, that of 2017 ends there",
            "build the cache with another block size",
        ),
        "aeon-block-width": Rule(
            _ERROR,
            "there is no telling which record an element is of: {elements} for {records}",
            "exset validate says what is wrong; exset cache extract --damaged takes what it can",
        ),
        "aeon-block-no-trailer": Rule(
            _WARNING, "there is no cpiotlr after the last element", "aeon does not look at it"
        ),
        "aeon-block-no-end": Rule(
            _WARNING,
            "the file ends before TRAILER!!!, which cpio wants and aeon never looks at",
            "write the block anew: exset convert",
        ),
        "aeon-block-version": Rule(
            _WARNING, "the format version is {version}, not 1: aeon does not look at it", ""
        ),
        "aeon-block-2016": Rule(
            _NOTE,
            "the header has words that aeon has not written since 2016: the sizes of the largest"
            " items, and of all",
            "they are kept, and nothing reads them",
        ),
        # Any archive
        "cpio-name": Rule(_WARNING, "the name is not ended by a NUL: its last byte is dropped", ""),
        "cpio-trailing-bytes": Rule(
            _WARNING, "{count} bytes follow the end of the archive", "they are dropped"
        ),
        "cpio-not-a-file": Rule(
            _WARNING,
            "{name} is no plain file, and a block has nothing but data",
            "--lossy leaves it out",
        ),
        "cpio-loss": Rule(
            _WARNING, "{what} cannot be said in an archive of files", "--lossy leaves them out"
        ),
        "cpio-unsafe-name": Rule(
            _ERROR, "{name} is not extracted: {why}", "list the archive with exset info"
        ),
        # A cache
        "aeon-cache-incomplete": Rule(
            _ERROR,
            "there is no cache_complete: aeon (2020) builds the cache anew, that of 2017 trusts"
            " each block that is there",
            "exset cache repair, or exset cache build, completes it",
        ),
        "aeon-cache-lock": Rule(
            _WARNING,
            "there is a caching_in_progress: {who}",
            "if nothing writes the cache any more, the next build takes it over; one of another"
            " machine has to be removed by hand",
        ),
        "aeon-cache-gap": Rule(_ERROR, "block {number} is missing", _REBUILD),
        "aeon-cache-block": Rule(_ERROR, "block {number} is broken: {why}", _REBUILD),
        "aeon-cache-none": Rule(_ERROR, "there are no blocks", ""),
        "aeon-cache-name": Rule(
            _WARNING, "{name} is not how aeon names a cache: it will not be found", ""
        ),
        "aeon-cache-uid": Rule(
            _ERROR,
            "the cache is that of {found}, the manifest's is {wanted}",
            "another manifest, other records chosen, or a shuffled one; or the folder was renamed:"
            " aeon calls it aeon_cache_{wanted}",
        ),
        "aeon-cache-other": Rule(_NOTE, "{name} is no part of a cache", ""),
        "aeon-cache-width": Rule(
            _ERROR, "block {number} has {width} elements a record, {wanted} are wanted", _REBUILD
        ),
        "aeon-cache-count": Rule(
            _ERROR,
            "{what}: the manifest, in blocks of {size}, wants {wanted}",
            "aeon sees some records only, or some twice: say the block size that was used, or"
            " build the cache anew",
        ),
        "aeon-cache-empty-block": Rule(
            _WARNING,
            "with blocks of {size} aeon (2020) wants an empty last block of these {records}"
            " records, and never completes its cache",
            "choose another block size",
        ),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding by the rule of a code, at a place; words fill in its message."""
