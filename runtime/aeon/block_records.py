"""Write blocks as text and read them back: a manifest with the elements as base64.

aeon reads it as any manifest, and it needs no other files.
"""

from base64 import b64encode

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.grammars.columns.arrays import constant
from exset.grammars.columns.strings import Strings
from exset.parsers.aeon import manifest as manifests
from exset.parsers.aeon import manifest_text
from exset.runtime.aeon.elements import ElementError, encoded


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Block:
    """Make a block from a manifest without files. Raises FormatError for one that names files."""
    found = manifests.parse(source, limits=limits, findings=findings, engine=engine)
    if found.columns(ElementType.FILE):
        message = "the manifest has a FILE column, so its elements are in other files"
        hint = "exset cache build reads these files"
        raise FormatError(message, place=Place(source.name), hint=hint, code="format")
    records: list[list[bytes]] = []
    for row in encoded(found):
        failed = [each for each in row if isinstance(each, ElementError)]
        if failed:
            first = failed[0]
            message = f"record {first.record}, column {first.column}: {first.message}"
            raise FormatError(message, place=Place(source.name, line=first.line), code=first.code)
        records.append([each for each in row if isinstance(each, bytes)])
    return Block.of(records)


def render(block: Block, *, findings: Findings | None = None) -> bytes:
    """Return the text of a block or an archive, without names and times.

    Raises FormatError if records have different numbers of elements, and for a record of one empty
    element, which a manifest cannot store.
    """
    return manifest_text.render(manifest_of(block), findings=findings)


def manifest_of(block: Block) -> Manifest:
    """Return the elements of a block as a manifest. Raises FormatError as `render`."""
    width = block.known_width()
    fields = Strings.of(b64encode(data) for data in block.elements.data)
    types = (ElementType.BINARY,) * width
    lines = constant(0, len(block), np.int32)
    return Manifest(Dialect.HEAD, types, width, fields, lines)
