"""Write blocks. A manifest becomes a block with the elements that aeon makes from its records."""

import os

from exset.codecs.aeon.cpio_write import encode
from exset.core.errors import Findings, FormatError, Place
from exset.core.text import counted
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest import Manifest
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.aeon.elements import ElementError, encoded
from exset.runtime.aeon.missing_files import Folder


def write(
    model: Block | Manifest,
    /,
    *,
    findings: Findings | None = None,
    base: str = "",
    root: str = "",
    lossy: bool = False,
) -> bytes:
    """Return the bytes of a block. If `model` is a manifest, the block has all its records.

    base: the folder in which relative paths of a manifest start. root: the folder that must contain
    all files of the manifest. Raises the FormatError of `exset.codecs.aeon.cpio_write.encode`, and
    FormatError for an element that aeon cannot make.
    """
    if isinstance(model, Manifest):
        model = block_of(model, base, Access(roots=(root,)) if root else DEFAULT_ACCESS)
    return encode(model, lossy=lossy, findings=findings)


def block_of(manifest: Manifest, base: str = "", access: Access = DEFAULT_ACCESS) -> Block:
    """Return one block with the elements of all records of a manifest.

    Raises FormatError if an element cannot be made.
    """
    records: list[list[bytes]] = []
    failed: list[ElementError] = []
    for row in encoded(manifest, base=base, access=access):
        failed += [each for each in row if isinstance(each, ElementError)]
        if not failed:
            records.append([each for each in row if isinstance(each, bytes)])
    if failed:
        first, others = failed[0], len(failed) - 1
        more = f" (and {counted(others, 'more element')})" if others else ""
        message = f"record {first.record}, column {first.column}: {first.message}{more}"
        hint = first.hint(Folder(os.fsencode(base), access))
        place = Place("manifest", line=first.line or None)
        raise FormatError(message, place=place, hint=hint, code=first.code)
    return Block.of(records)
