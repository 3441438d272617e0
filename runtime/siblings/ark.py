"""Archives of Kaldi, binary or text, as tables: a row for each vector, or row of a matrix."""

from typing import Any, Final

import numpy as np

from exset.codecs.siblings import ark
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.archive import Archive
from exset.grammars.siblings.events import event_columns
from exset.grammars.siblings.findings import ARK
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.siblings.rows import Rows, is_single
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.runtime.siblings.ark_files import named, parsed

FEATURES: Final = "features"


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
    if source.path.endswith(".scp"):
        archive = named(source, archives, limits=limits, findings=findings, engine=engine)
    else:
        archive = parsed(source, limits=limits, findings=findings, engine=engine)
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
    if sizes.size and (sizes == sizes[0]).all():
        columns[FEATURES] = Numbers.of(archive.values.reshape(sizes.size, sizes[0]))
    else:
        columns[FEATURES] = Lists.of(Numbers.of(archive.values), sizes)
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
    kept = ["name", FEATURES]
    column = table.columns.get(FEATURES)
    if column is None or (side == "targets" and patterns.targets):
        sides = (patterns.inputs, patterns.targets)
        groups, others = sides if side == "inputs" else sides[::-1]
        if not groups:
            message = "an archive of Kaldi needs `features`, or columns of inputs or targets"
            patterns.refuse(side, message)
        for group in others:
            hint = "write it to another archive, with <--side targets or side='targets'>"
            problem = "an archive of Kaldi stores inputs or targets, not both"
            patterns.losses.report(group.column, problem, hint=hint)
        column = Numbers.of(patterns.joined(groups, side))
    first, example = np.arange(table.rows), table.columns.get("example")
    if is_matrix := is_single(example, "iu"):
        first = np.flatnonzero(np.diff(example.values, prepend=example.values[:1] - 1))
        kept += ["example", "event"]
    patterns.stored.update(kept)
    patterns.drop_others()
    keys, (values, cols) = _keys(first, patterns), _values(column, patterns)
    rows = np.full(first.size, -1, np.int64)
    if is_matrix:
        rows, widths = np.diff(first, append=table.rows), cols
        cols = widths[first]
        wrong = np.flatnonzero(np.repeat(cols, rows) != widths)
        patterns.refuse_rows(FEATURES, "all rows of a matrix must have the same length", wrong)
    archive = Archive(keys, rows, cols, values)
    if matrices is not None:
        if not is_matrix or not (archive.sizes > 0).all():
            patterns.refuse(FEATURES, "Kaldi cannot compress vectors or empty matrices")
        wrong = np.searchsorted(np.cumsum(widths), np.flatnonzero(~np.isfinite(values)), "right")
        patterns.refuse_rows(FEATURES, "compressed matrices cannot store NaN or infinity", wrong)
    return ark.encode(archive, matrices)


def _keys(rows: Longs, patterns: Patterns) -> Strings:
    """Return the key of each object: the name in its row of the table, or the number of the object.

    rows: the first row of each object.
    """
    numbers, names = Strings.of([b"%d" % row for row in range(rows.size)]), patterns.texts("name")
    if not any(name is not None for name in names):
        return numbers
    for row in rows.tolist():
        key = names[row]
        if key is None or key.split() != [key] or b"\0" in key:
            problem = "Kaldi cannot store the names as keys, because a key cannot contain spaces"
            patterns.losses.report("name", problem, row)
            return numbers
    return Strings.of([names[row] for row in rows.tolist()])


def _values(column: TableColumn, patterns: Patterns) -> tuple[Any, Longs]:
    """Return the numbers of all rows of a column, row after row, and how many each row has."""
    absent = np.flatnonzero(~column.present)
    patterns.refuse_rows(FEATURES, "Kaldi cannot store a row without a value", absent)
    rows, items = Rows.of(column), column.items if isinstance(column, Lists) else column
    if rows is None or not items.present.all():
        patterns.refuse(FEATURES, "Kaldi can store only numbers, and none may be missing")
    values: Any = rows.values
    dtype: Any = np.float32
    is_whole = values.dtype.kind in "biu" and "example" not in patterns.others
    if values.dtype == np.float64:
        dtype = values.dtype
    elif is_whole and (values.astype(np.int64) == values.astype(np.int32)).all():
        dtype = np.int32
    made = values.astype(dtype)
    if values.dtype.kind in "biu" and (made.astype(values.dtype) != values).any():
        message = "Kaldi stores integers of more than 32 bits as floats, which round them"
        patterns.refuse(FEATURES, message)
    return made, rows.lengths
