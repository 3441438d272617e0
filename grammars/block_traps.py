"""What is wrong or doubtful in aeon's cache blocks and caches, as findings.

A code is stable: programs may select findings by it.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.errors import Severity
from exset.grammars.traps import Trap, trap_of

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_REBUILD: Final = "exset cache repair builds it anew from the manifest"

TRAPS: Final = MappingProxyType(
    {
        # A block
        "aeon-block-shift": Trap(
            _ERROR,
            "{elements} elements are not {records} records{whose}: aeon takes the elements that"
            " follow for those of other records, and says nothing",
            "the manifest had fields that failed when the cache was made; mend them and build it"
            " anew",
        ),
        "aeon-block-empty": Trap(
            _WARNING,
            "there are no records: aeon (2020) refuses the block, that of 2017 ends there",
            "build the cache with another block size",
        ),
        "aeon-block-width": Trap(
            _ERROR,
            "there is no telling which record an element is of: {elements} for {records}",
            "exset validate says what is wrong; exset cache extract --damaged takes what it can",
        ),
        "aeon-block-no-trailer": Trap(
            _WARNING, "there is no cpiotlr after the last element", "aeon does not look at it"
        ),
        "aeon-block-no-end": Trap(
            _WARNING,
            "the file ends before TRAILER!!!, which cpio wants and aeon never looks at",
            "write the block anew: exset convert",
        ),
        "aeon-block-version": Trap(
            _WARNING, "the format version is {version}, not 1: aeon does not look at it", ""
        ),
        "aeon-block-2016": Trap(
            _NOTE,
            "the header has words that aeon has not written since 2016: the sizes of the largest"
            " items, and of all",
            "they are kept, and nothing reads them",
        ),
        # Any archive
        "cpio-name": Trap(_WARNING, "the name is not ended by a NUL: its last byte is dropped", ""),
        "cpio-trailing-bytes": Trap(
            _WARNING, "{count} bytes follow the end of the archive", "they are dropped"
        ),
        "cpio-not-a-file": Trap(
            _WARNING,
            "{name} is no plain file, and a block has nothing but data",
            "--lossy leaves it out",
        ),
        "cpio-loss": Trap(
            _WARNING, "{what} cannot be said in an archive of files", "--lossy leaves them out"
        ),
        "cpio-unsafe-name": Trap(
            _ERROR, "{name} is not extracted: {why}", "list the archive with exset info"
        ),
        # A cache
        "aeon-cache-incomplete": Trap(
            _ERROR,
            "there is no cache_complete: aeon (2020) builds the cache anew, that of 2017 trusts"
            " each block that is there",
            "exset cache repair, or exset cache build, completes it",
        ),
        "aeon-cache-lock": Trap(
            _WARNING,
            "there is a caching_in_progress: {who}",
            "if nothing writes the cache any more, the next build takes it over; one of another"
            " machine has to be removed by hand",
        ),
        "aeon-cache-gap": Trap(_ERROR, "block {number} is missing", _REBUILD),
        "aeon-cache-block": Trap(_ERROR, "block {number} is broken: {why}", _REBUILD),
        "aeon-cache-none": Trap(_ERROR, "there are no blocks", ""),
        "aeon-cache-name": Trap(
            _WARNING, "{name} is not how aeon names a cache: it will not be found", ""
        ),
        "aeon-cache-uid": Trap(
            _ERROR,
            "the cache is that of {found}, the manifest's is {wanted}",
            "another manifest, other records chosen, or a shuffled one; or the folder was renamed:"
            " aeon calls it aeon_cache_{wanted}",
        ),
        "aeon-cache-other": Trap(_NOTE, "{name} is no part of a cache", ""),
        "aeon-cache-width": Trap(
            _ERROR, "block {number} has {width} elements a record, {wanted} are wanted", _REBUILD
        ),
        "aeon-cache-count": Trap(
            _ERROR,
            "{what}: the manifest, in blocks of {size}, wants {wanted}",
            "aeon sees some records only, or some twice: say the block size that was used, or"
            " build the cache anew",
        ),
        "aeon-cache-empty-block": Trap(
            _WARNING,
            "with blocks of {size} aeon (2020) wants an empty last block of these {records}"
            " records, and never completes its cache",
            "choose another block size",
        ),
    }
)


trap: Final = partial(trap_of, TRAPS)
"""The finding of a trap at a place, its message filled in with words."""
