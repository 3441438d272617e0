"""Read a large cache in parts: each part is a block."""

from collections.abc import Generator, Sequence
from contextlib import suppress

from exset.core.errors import Findings, FormatError, Severity
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.parts import FilePart, PartState, changed
from exset.grammars.aeon.block import Block
from exset.io.folders import Folder
from exset.runtime.aeon.cache import Cache


def count(folder: Folder) -> int:
    """Return the number of parts of a cache."""
    return max(1, len(Cache(folder.name, folder.limits, folder.roots).blocks))


def read(
    folder: Folder, part: FilePart, findings: Findings, limits: Limits, engine: Engine
) -> Generator[Block, None, PartState]:
    """Yield the block of a part of the cache. For the first part, also add the folder's findings.

    A part is a block.
    """
    cache, found = Cache(folder.name, limits, folder.roots), Findings()
    numbers = list(cache.blocks)
    if len(numbers) != part.count:
        raise changed(folder.name)
    if not part.rank:
        cache.check_folder(found)
    blocks = [block for _, block in cache.intact_among(numbers[part.rank : part.rank + 1], found)]
    yield from blocks
    errors = [each for each in found if each.severity is Severity.ERROR]
    is_certain = len(blocks) == 1 and all(each.code == "aeon-cache-incomplete" for each in errors)
    width = (blocks[0].width or 0) if blocks else 0
    with suppress(FormatError):  # a warning, if the user wants warnings to be errors
        findings.add_all(found)
        return PartState(is_certain, width=width)
    return PartState(is_certain=False)


def joined(parts: Sequence[tuple[PartState, Findings]], limits: Limits) -> Findings | None:
    """Join the findings of the parts of a cache. A part is a block.

    Return None if the cache must be read as a whole.
    """
    widths = {state.width for state, _ in parts}
    if len(widths) > 1 or 0 in widths or not all(state.is_certain for state, _ in parts):
        return None
    findings = Findings()
    for _, found in parts:
        findings.add_all(found)
    return findings
