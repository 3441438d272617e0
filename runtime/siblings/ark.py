"""Archives of Kaldi, binary or text, as tables: a row for each vector, or row of a matrix."""

from math import prod
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
from exset.grammars.siblings.rows import is_single
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.runtime.siblings import kaldi_scp
from exset.runtime.siblings.ark_files import parsed

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
    if source.path.endswith(kaldi_scp.SUFFIX):
        archive = kaldi_scp.read(
            source, folder=archives, limits=limits, findings=findings, engine=engine
        )
    else:
        archive = parsed(source, limits=limits, findings=findings, engine=engine)
    place = Place(source.name)
    if (archive.rows < 0).any() and (archive.rows >= 0).any():
        hint = "write the matrices to one archive and the vectors to another"
        message = "the archive has both matrices and vectors"
        raise FormatError(message, place=place, hint=hint, code="ark-kinds")
    distinct, codes = archive.keys.distinct()
    for code in np.flatnonzero(np.bincount(codes, minlength=len(distinct)) > 1)[:1].tolist():
        key = safe((distinct[code] or b"").decode("utf-8", "backslashreplace"))
        findings.add(ARK.finding("ark-key-twice", place, key=key))
    sizes, names = archive.cols, text_or_bytes(archive.keys)
    columns: dict[str, TableColumn] = {"name": names}
    if not archive.is_of_vectors:
        for row in np.flatnonzero(archive.rows == 0)[:1].tolist():
            key = safe((archive.keys[row] or b"").decode("utf-8", "backslashreplace"))
            findings.add(ARK.finding("ark-empty", place, key=key))
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
    losses, kept = patterns.losses, ["name", FEATURES]
    column = table.columns.get(FEATURES)
    if column is None or (side == "targets" and patterns.targets):
        groups, others = patterns.inputs, patterns.targets
        if side == "targets":
            groups, others = others, groups
        if not groups:
            message = "an archive of Kaldi needs `features`, or columns of inputs or targets"
            patterns.refuse(side, message)
        for group in others:
            hint = "write it to another archive, with <--side targets or side='targets'>"
            problem = "an archive of Kaldi stores inputs or targets, not both"
            losses.report(group.column, problem, hint=hint)
        column = Numbers.of(patterns.joined(groups, side))
    first, example = np.arange(table.rows), table.columns.get("example")
    if is_matrix := is_single(example, "iu"):
        first = np.flatnonzero(np.diff(example.values, prepend=example.values[:1] - 1))
        kept += ["example", "event"]
    patterns.stored.update(kept)
    patterns.drop_others()
    keys, (values, cols) = _keys(table, first, patterns), _values(column, patterns)
    rows = np.full(first.size, -1, np.int64)
    if is_matrix:
        rows, widths = np.diff(first, append=table.rows), cols
        cols = widths[first]
        for row in np.flatnonzero(np.repeat(cols, rows) != widths)[:1].tolist():
            patterns.refuse(FEATURES, "all rows of a matrix must have the same length", row)
    archive = Archive(keys, rows, cols, values)
    if matrices is not None:
        if not is_matrix or not (archive.sizes > 0).all():
            patterns.refuse(FEATURES, "Kaldi cannot compress vectors or empty matrices")
        for number in np.flatnonzero(~np.isfinite(values))[:1].tolist():
            row = int(np.searchsorted(np.cumsum(cols), number, side="right"))
            patterns.refuse(FEATURES, "compressed matrices cannot store NaN or infinity", row)
    return ark.encode(archive, matrices)


def _keys(table: Table, rows: Longs, patterns: Patterns) -> Strings:
    """Return the key of each object: the name in its row of the table, or the number of the object.

    rows: the first row of each object.
    """
    numbers = Strings.of([b"%d" % row for row in range(rows.size)])
    names = table.columns.get("name")
    if not isinstance(names, Strings) or not names.present.any():
        return numbers
    keys = [*Strings.unchecked(**vars(names)).take(rows)]
    for row, key in enumerate(keys):
        if key is None or len(key.split()) != 1 or key != key.strip() or b"\0" in key:
            problem = "Kaldi cannot store the names as keys, because a key cannot contain spaces"
            patterns.losses.report("name", problem, int(rows[row]))
            return numbers
    return Strings.of(keys)


def _values(column: TableColumn, patterns: Patterns) -> tuple[Any, Longs]:
    """Return the numbers of all rows of a column, row after row, and how many each row has."""
    for row in np.flatnonzero(~column.present)[:1].tolist():
        patterns.refuse(FEATURES, "Kaldi cannot store a row without a value", row)
    items = column.items if isinstance(column, Lists) else column
    is_right = isinstance(items, Numbers) and items.values.dtype.kind in "biuf"
    if not isinstance(items, Numbers) or not is_right or not items.present.all():
        problem = "Kaldi can store only numbers, and none may be missing"
        raise FormatError(problem, place=Place("table", field=FEATURES), code="table-holds")
    if isinstance(column, Lists):
        cols = column.lengths * prod(items.shape)
    else:
        cols = np.full(len(column), prod(items.shape), np.int64)
    values: Any = items.values.reshape(-1)
    is_whole = values.dtype.kind in "biu" and "example" not in patterns.others
    if is_whole and (values.astype(np.int64) == values.astype(np.int32)).all():
        dtype: Any = np.int32
    else:
        dtype = values.dtype if values.dtype == np.float64 else np.float32
    made = values.astype(dtype)
    if values.dtype.kind in "biu" and (made.astype(values.dtype) != values).any():
        message = "Kaldi stores integers of more than 32 bits as floats, which round them"
        patterns.refuse(FEATURES, message)
    return made, cols
