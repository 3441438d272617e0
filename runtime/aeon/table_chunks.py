"""Make tables of a manifest that comes in chunks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from exset.core.errors import Findings
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.tables.sidecar import add_types, with_types
from exset.grammars.tables.survey import Survey
from exset.grammars.tables.table import Table
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.files import FilePath
from exset.runtime.aeon.table import Making
from exset.runtime.training.dataset import checked_names

_FEW: Final = 16
"""The number of first records whose files are read at once."""
_FILES: Final = 1 << 24
"""The approximate number of bytes of the files that are read at once."""


@dataclass(frozen=True)
class Layout:
    """The columns that the tables of all chunks have, and how to make the tables.

    types: {column: type}.
    """

    making: Making
    types: dict[str, str]


def layout_of(
    chunks: Iterable[Manifest],
    /,
    *,
    level: Level,
    findings: Findings,
    limits: Limits = DEFAULT,
    names: Iterable[str] | None = None,
    contents: bool = False,
    base: FilePath = "",
    access: Access = DEFAULT_ACCESS,
) -> Layout:
    """Find the columns for the tables of a manifest that is read in chunks.

    The arguments are those of `to_table`, but no file is opened even with `contents`. A column of
    text becomes a column of bytes if one of its texts is not UTF-8. `NAME.text` becomes a column if
    any chunk needs it. Raises the errors of `to_table`.
    """
    chosen = None if names is None else checked_names("names", names)
    making = Making(level, chosen, contents, base, access)
    found: dict[str, str] = {}
    for chunk in chunks:
        table = replace(making, contents=False).table(chunk, Findings(), limits)
        add_types(found, table.types)
    types: dict[str, str] = {}
    for index, name in enumerate(making.names_for(chunk)):
        is_file = contents and chunk.types[index : index + 1] == (ElementType.FILE,)
        named = {f"{name}.path": found[name], name: "bytes"} if is_file else {name: found[name]}
        types |= named
        if (said := f"{name}.text") in found:
            types[said] = found[said]
    return Layout(making, types)


def tables_of(
    chunks: Iterable[Manifest],
    layout: Layout,
    /,
    *,
    findings: Findings,
    limits: Limits = DEFAULT,
) -> Iterator[Table]:
    """Yield the tables of a manifest that is read in chunks. Raises the errors of `to_table`.

    With `contents`, a table has only a few records, because it contains their files.
    """
    first = 0
    for chunk in chunks:
        begin, rows = 0, _FEW if layout.making.contents else len(chunk)
        while begin < len(chunk) or not begin:
            part = chunk.select(slice(begin, begin + rows))
            table = layout.making.table(part, findings, limits, first)
            columns = with_types(table.columns, layout.types, table.rows)
            yield Table(columns, table.rows, table.metadata)
            begin, first = begin + max(len(part), 1), first + len(part)
            if layout.making.contents:
                rows = Survey.of([table]).rows_of(_FILES)
