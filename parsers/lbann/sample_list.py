"""Parse LBANN sample lists; `list_text` writes them.

`grammars/sample_list.lark` defines the syntax. exset reads the lists that LBANN reads (commit
04c297bd), with the same values. A list on which LBANN hangs, or uses uninitialised memory, is an
error. This module does not open the files of a list: `exset.runtime.lbann.list_files` checks them.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Reader
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.units import joined
from exset.io.blocks import Blocks
from exset.parsers.engine.division import read_divided
from exset.parsers.engine.window import Window
from exset.parsers.lbann.list_checks import with_file_count
from exset.parsers.lbann.list_reading import COMPARED_BYTES, Reading

_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = b"\n"


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    ids: str | None = None,
    reader: str | None = None,
) -> SampleList:
    """Return the sample list that a text contains.

    - ids: "text", or "integer" for integers and ranges `first ... last`, as for LBANN's SMILES
      reader. By default, ids are text if `reader` is given; otherwise exset detects the type of the
      ids.
    - reader: "hdf5" or "image", see `Reader`. By default, the type of the list decides.
    - findings: collects warnings.
    - engine: as in `Grammar.parse`.

    Raises FormatError for a list on which LBANN fails, crashes or hangs. Raises LimitError for a
    list beyond the limits.
    """
    findings = Findings() if findings is None else findings
    begin = begin_of(source, findings)

    def read(findings: Findings, is_divided: bool) -> SampleList:
        made = Reading(source, _reader(reader), ids, limits, engine)
        try:
            return joined(made.chunks(begin, findings, is_divided))
        except LimitError:
            raise
        except FormatError as error:
            if made.is_read:
                raise
            raise with_file_count(error, made.header, source) from None

    return read_divided(source, findings, read)


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    ids: str | None = None,
    reader: str | None = None,
) -> Iterator[SampleList]:
    """Parse a list in chunks: yield one or more lists, each with the files of a chunk.

    Joined, these lists equal the result of `parse`, with the same findings. But for a large text,
    only the first error is raised. If the first 64 kB do not show that ids are text, exset reads
    the list as a whole.
    """
    findings = Findings() if findings is None else findings
    how = _reader(reader), ids, limits, engine
    head = Source(blocks.name, blocks.head(2 * COMPARED_BYTES))
    if len(head.content) < 2 * COMPARED_BYTES or not (ids or _has_text_ids(head, how)):
        source = Source(blocks.name, b"".join(blocks))
        yield parse(source, limits=limits, findings=findings, engine=engine, ids=ids, reader=reader)
        return
    begin = begin_of(head, findings)
    made = Reading(head, *how, window=Window(blocks, _LINE_END, (_LINE_END,)))
    made.ids = ids or "text"
    yield from made.chunks(begin, findings)


def _reader(name: str | None) -> Reader | None:
    return None if name is None else Reader(name)


def _has_text_ids(head: Source, how: tuple[Reader | None, str | None, Limits, Engine]) -> bool:
    """Return whether the beginning of a text shows that its ids are text, not integers.

    how: a tuple of the reader, the option `ids`, the limits and the engine.
    """
    end = head.data.rfind(_LINE_END, COMPARED_BYTES) + 1
    whole = Reading(Source(head.name, head.data[:end]), *how)
    if how[0] is not None:
        return True
    with suppress(FormatError):
        for _ in whole.chunks(begin_of(head, Findings()), Findings()):
            pass
    return whole.ids == "text"


def begin_of(source: Source, findings: Findings) -> int:
    """Return the offset of the first byte to parse, after a byte order mark."""
    if not source.data.startswith(_BOM):
        return 0
    what, advice = "a byte order mark at the start", "save the file as UTF-8 without it"
    findings.add(finding_at("lbann-refuses", Place(source.name), what=what, hint=advice))
    return len(_BOM)
