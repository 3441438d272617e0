"""Archives of Kaldi in both forms."""

import re
from typing import Final

from exset.codecs.siblings import ark
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.siblings.archive import Archive
from exset.parsers.siblings import ark_text

_BINARY: Final = re.compile(rb"\s*+[^\s\0]++[ \t]?+\0B")


def parsed(source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Archive:
    """Return the objects of an archive, binary or text. Raises FormatError for a wrong archive."""
    if _BINARY.match(source.data) or b"\0" in source.data[:4096]:
        return ark.decode(source, limits=limits, findings=findings, engine=engine)
    return ark_text.parse(source, findings=findings, engine=engine)
