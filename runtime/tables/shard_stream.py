"""Read folders of shards in chunks: a chunk is a shard."""

from collections.abc import Callable, Iterator

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.tables import sidecar
from exset.grammars.tables.column_types import absent
from exset.grammars.tables.columns import TableColumn, type_of
from exset.grammars.tables.sidecar import with_type
from exset.grammars.tables.table import Table

Parts = Callable[[Findings], Iterator[Table]]
"""Reads the table of each shard, each time it is called."""


def streamed(
    parts: Parts,
    whole: Callable[[], Table],
    source: Source,
    findings: Findings,
    *,
    has_all: bool = False,
) -> Iterator[Table]:
    """Yield the table of each shard: joined, they are the table of the folder.

    All shards are read twice, as all decide the types of the columns. If a column has another type
    in another shard, or the sidecar does not fit, there is one chunk, which `whole` reads. source:
    one without content, with the sidecar of the folder. has_all: every shard has all columns.
    Raises the errors of `parts`.
    """
    found = Findings(strict=findings.strict)
    value = sidecar.value_of(source, found)
    kinds: dict[str, str | None] = {}
    count = rows = 0
    first: tuple[str, ...] = ()
    is_regular = True
    try:
        for table in parts(found):
            count, rows = count + 1, rows + table.rows
            is_regular = is_regular and _has_kinds(table, kinds)
            first = table.names if count == 1 else first
            is_regular = is_regular and (not has_all or table.names == first)
            if value is not None and is_regular:
                is_regular = _restored(table, value) is not None
    except FormatError:
        findings.add_all(found)
        raise
    if count < 2 or not is_regular or (value is not None and value["rows"] != rows):
        yield whole()
        return
    findings.add_all(found)
    for table in parts(Findings()):
        made = _conformed(table, kinds) if value is None else _restored(table, value)
        assert made is not None, "the shards are read as before"
        yield made


def _has_kinds(table: Table, kinds: dict[str, str | None]) -> bool:
    """Add the types of the columns of a shard; return whether they are those of the others.

    kinds: the type of each column, None as long as all its rows are absent.
    """
    for name, column in table.columns.items():
        kind = type_of(column) if column.present.any() else None
        known = kinds.setdefault(name, kind)
        if known is None:
            kinds[name] = kind
        elif kind is not None and kind != known:
            return False
    return True


def _conformed(table: Table, kinds: dict[str, str | None]) -> Table:
    """Return the table of a shard with the columns of all shards; one without values is text."""
    columns: dict[str, TableColumn] = {}
    for name, kind in kinds.items():
        column = table.columns.get(name)
        made = absent(kind or "text", table.rows)
        columns[name] = made if column is None else with_type(column, kind or "text")
    return Table(columns, table.rows, table.metadata)


def _restored(table: Table, value: dict[str, object]) -> Table | None:
    """Return the table of a shard with the types of the sidecar; None if they do not fit."""
    try:
        return sidecar.with_value(table, {**value, "rows": table.rows})
    except ValueError:
        return None
