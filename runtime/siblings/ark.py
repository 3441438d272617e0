"""Archives of Kaldi, binary or text, as tables: a row for each vector, or row of a matrix."""

import re
from typing import Any, Final

import numpy as np

from exset.codecs.siblings import ark
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.arrays import Longs, offsets_of
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.archive import Archive
from exset.grammars.siblings.events import event_columns
from exset.grammars.siblings.findings import ARK
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.siblings.rows import Rows, is_single
from exset.grammars.tables.columns import Lists, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.runtime.siblings.ark_files import named, parsed

FEATURES: Final = "features"
_KEY: Final = re.compile(rb"[^\s\0]+")


def read(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    archives: str = "",
) -> Table:
    """Return a table with the columns `name`, the key, and `features`, the numbers.

    A row of the table is a vector, or a row of a matrix. The rows of a matrix are the events of
    one `example`. The numbers are float32, float64 or int32: arrays if all rows have the same
    length, else lists. A script file (.scp) names objects in archives, which must be in the folder
    `archives`; without this folder none is opened. Raises FormatError for an invalid archive,
    OSError for an archive that cannot be opened.
    """
    findings = Findings() if findings is None else findings
    options: Any = {"limits": limits, "findings": findings, "engine": engine}
    is_script = source.path.endswith(".scp")
    archive = named(source, archives, **options) if is_script else parsed(source, **options)
    place, is_matrix = Place(source.name), archive.rows >= 0
    if is_matrix.any() and not is_matrix.all():
        raise FormatError.of(ARK.finding("ark-kinds", place))
    distinct, codes = archive.keys.distinct()
    for code, keys, wrong in (
        ("ark-key-twice", distinct, np.bincount(codes, minlength=len(distinct)) > 1),
        ("ark-empty", archive.keys, archive.rows == 0),
    ):
        for row in np.flatnonzero(wrong)[:1].tolist():
            key = safe((keys[row] or b"").decode("utf-8", "backslashreplace"))
            findings.add(ARK.finding(code, place, key=key))
    sizes, names = archive.cols, text_or_bytes(archive.keys)
    columns: dict[str, TableColumn] = {"name": names}
    if not archive.is_of_vectors:
        sizes = np.repeat(sizes, archive.rows)
        columns = event_columns(archive.rows) | {"name": names.repeated(archive.rows)}
    is_array = bool(sizes.size) and bool((sizes == sizes[0]).all())
    columns[FEATURES] = Rows(archive.values, offsets_of(sizes)).column(is_array)
    return Table(columns, sizes.size, {})


def write(
    table: Table,
    /,
    *,
    findings: Findings | None = None,
    lossy: bool = False,
    side: str = "inputs",
    matrices: str | None = None,
) -> bytes:
    """Return a binary archive of a table's `features`, or of its inputs or targets.

    The rows of an `example` become a matrix; without this column, each row becomes a vector. side:
    "inputs" or "targets". matrices: "CM2" or "CM3", Kaldi's compressed matrices, which round each
    number to one of 65536 or 256 between the least and the greatest of its matrix. Raises
    FormatError for values that an archive cannot hold.
    """
    patterns = Patterns.of(table, "Kaldi", findings, lossy)
    rows, is_matrix = _rows(table, side, patterns), is_single(table.columns.get("example"), "iu")
    first = np.flatnonzero(patterns.first_rows()) if is_matrix else np.arange(table.rows)
    keys = _keys(first, patterns)
    patterns.drop_others()
    heights, widths = np.full(first.size, -1), rows.lengths[first]
    if is_matrix:
        heights = np.diff(first, append=table.rows)
        wrong = np.flatnonzero(np.repeat(widths, heights) != rows.lengths)
        patterns.refuse_rows(FEATURES, "all rows of a matrix must have the same length", wrong)
    archive = Archive(keys, heights, widths, _stored(rows.values, is_matrix, patterns))
    if matrices is not None:
        if not is_matrix or not (archive.sizes > 0).all():
            patterns.refuse(FEATURES, "Kaldi cannot compress vectors or empty matrices")
        wrong = rows.having(~np.isfinite(rows.values))
        patterns.refuse_rows(FEATURES, "compressed matrices cannot store NaN or infinity", wrong)
    return ark.encode(archive, matrices)


def _rows(table: Table, side: str, patterns: Patterns) -> Rows:
    """Return the rows of `features`, or else those of the inputs or the targets."""
    column = table.columns.get(FEATURES)
    if column is not None and (side == "inputs" or not patterns.targets):
        patterns.stored.add(FEATURES)
        absent = np.flatnonzero(~column.present)
        patterns.refuse_rows(FEATURES, "Kaldi cannot store a row without a value", absent)
        items = column.items if isinstance(column, Lists) else column
        if (rows := Rows.of(column)) is None or not items.present.all():
            patterns.refuse(FEATURES, "Kaldi can store only numbers, and none may be missing")
        return rows
    sides = {"inputs": patterns.inputs, "targets": patterns.targets}
    if not sides[side]:
        message = "an archive of Kaldi needs `features`, or columns of inputs or targets"
        patterns.refuse(side, message)
    for group in sides["targets" if side == "inputs" else "inputs"]:
        hint = "write it to another archive, with <--side targets or side='targets'>"
        problem = "an archive of Kaldi stores inputs or targets, not both"
        patterns.losses.report(group.column, problem, hint=hint)
    return patterns.rows_of(side)


def _keys(rows: Longs, patterns: Patterns) -> Strings:
    """Return the key of each object: the name in its row of the table, or the number of the object.

    rows: the first row of each object.
    """
    names = patterns.texts("name")
    if any(name is not None for name in names):
        wrong = [row for row in rows.tolist() if not _KEY.fullmatch(names[row] or b"")]
        if not wrong:
            return Strings.of([names[row] for row in rows.tolist()])
        problem = "Kaldi cannot store the names as keys, because a key cannot contain spaces"
        patterns.losses.report("name", problem, wrong[0])
    return Strings.of([b"%d" % row for row in range(rows.size)])


def _stored(values: Any, is_matrix: bool, patterns: Patterns) -> Any:
    """Return numbers in a dtype of Kaldi: float64 stays, and vectors may be int32."""
    if values.dtype == np.float64:
        return values
    is_whole = values.dtype.kind in "biu"
    made = values.astype(np.float32 if is_matrix or not is_whole else np.int32)
    if is_whole and (made.astype(values.dtype) != values).any():
        made = values.astype(np.float32)
        if (made.astype(values.dtype) != values).any():
            message = "Kaldi stores integers of more than 32 bits as floats, which round them"
            patterns.refuse(FEATURES, message)
    return made
