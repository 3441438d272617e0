"""Write manifests.

A manifest made from a block contains the data themselves, and names no files.
"""

from base64 import b64encode

import numpy as np

from exset.core.errors import Findings
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.grammars.columns.arrays import constant
from exset.grammars.columns.strings import Strings
from exset.parsers.aeon.manifest_text import render


def write(
    model: Manifest | Block,
    /,
    *,
    findings: Findings | None = None,
    dialect: Dialect | str | None = None,
    lossy: bool = False,
) -> bytes:
    """Return the text of a manifest. The names and times of a block or an archive are not written.

    Raises the FormatError of `exset.parsers.aeon.manifest_text.render` and of `manifest_of`.
    """
    if isinstance(model, Block):
        model = manifest_of(model)
    return render(model, findings=findings, dialect=dialect, lossy=lossy)


def manifest_of(block: Block) -> Manifest:
    """Return a manifest of the elements of a block. Its fields are the elements as base64.

    Raises FormatError if records have different numbers of elements.
    """
    width = block.known_width()
    fields = Strings.of(b64encode(data) for data in block.elements.data)
    types = (ElementType.BINARY,) * width
    lines = constant(0, len(block), np.int32)
    return Manifest(Dialect.HEAD, types, width, fields, lines)
