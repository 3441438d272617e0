"""Read a cache, a folder of blocks, as one block with all records."""

from collections.abc import Sequence
from dataclasses import replace

from exset.core.errors import Findings, FormatError, Severity
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.grammars.aeon.block import Block, Entries, element_names
from exset.grammars.columns.strings import Strings
from exset.io.folders import Folder
from exset.runtime.aeon.cache import Cache


def read(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Block:
    """Return one block with copies of the records of all blocks, in order.

    `exset.dataset` reads a cache without copies. `findings` collects problems. Raises FormatError
    for a cache without blocks, and for a block that is missing or damaged.
    """
    found = Findings()
    cache = Cache(folder.name, limits, folder.roots)
    blocks = [block for _, block in cache.intact(found)]
    for finding in found:
        if finding.severity is Severity.ERROR and finding.code != "aeon-cache-incomplete":
            raise FormatError.of(finding)
    if findings is not None:
        findings.add_all(found)
    return _joined(blocks)


def _joined(blocks: Sequence[Block]) -> Block:
    """Return one block with the records of all blocks. Name the elements anew by aeon's rule."""
    first = blocks[0]
    if len(blocks) == 1 or first.header is None:
        return first
    count = sum(len(block) for block in blocks)
    width = first.known_width()
    elements = Entries.concat([block.elements for block in blocks])
    names = Strings.of(element_names(count, width))
    header = replace(first.header, record_count=count, elements_per_record=count)
    return first.with_unchecked(header=header, elements=elements.with_unchecked(name=names))
