"""Write pattern files of SNNS: version 3.2, or 4.2 with classes or a remap function."""

import re
from typing import Any, Final, NamedTuple

import numpy as np

from exset.core.errors import Findings
from exset.grammars.columns.arrays import Flags, Longs, as_singles
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.table import Table
from exset.parsers.siblings.decimals import BEYOND, decimals
from exset.parsers.siblings.snns import COLUMNS, KEY, MOST_SIZES

_IN_A_LINE: Final = 10
_CLASS: Final = re.compile(rb"(?![vV][0-9]+\.[0-9])[^ \t\r\n\f\0\x1a#\[\]][^ \t\r\n\f\0\x1a#]*+")


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the patterns in a table: its inputs, its targets, and its names as classes.

    Inputs and targets are arrays; or lists, and the sizes of each pattern are in `input_sizes` and
    `target_sizes`. Numbers are rounded to 32 bits. Raises FormatError for columns and values that
    the format cannot store; with `lossy`, patterns with NaN are left out.
    """
    patterns, keep = Patterns.of(table, "SNNS", findings, lossy), np.ones(table.rows, np.bool_)
    sides, texts = list[_Side](), list[list[bytes]]()
    for title, (name, name_of_sizes) in zip(("input", "output"), COLUMNS, strict=True):
        numbers = patterns.rows_of(name)
        sizes = _sizes(patterns, name, name_of_sizes, numbers.lengths)
        units = int((numbers.lengths // sizes.prod(axis=1)).max(initial=0))
        rows = numbers.having(np.isnan(numbers.values))
        patterns.lose(name, "SNNS cannot store this pattern, because it contains NaN", rows)
        keep[rows] = False
        if units:
            sides.append(_Side(title, units, sizes, numbers.offsets))
            texts.append(decimals(as_singles(numbers.values), BEYOND))
        elif title == "input":
            keep[:] = False
    if not keep.any():
        patterns.refuse("inputs", "SNNS needs at least one pattern, and patterns need inputs")
    classes = _classes(patterns, keep)
    patterns.drop_others()
    extra, rows = table.metadata.get(KEY), np.flatnonzero(keep)
    lines = _header(sides, rows, classes, extra if isinstance(extra, dict) else {})
    for number, row in enumerate(rows.tolist(), 1):
        for side, words in zip(sides, texts, strict=True):
            lines.append(f"# {side.title.capitalize()} pattern {number}:".encode())
            if side.sizes.size:
                lines.append(_listed(side.sizes[row].tolist()))
            begin, end = side.offsets[row : row + 2].tolist()
            for at in range(begin, end, _IN_A_LINE):
                lines.append(b" ".join(words[at : min(at + _IN_A_LINE, end)]))
        lines += classes[row : row + 1]
    return b"\n".join([*lines, b""])


class _Side(NamedTuple):
    """The inputs, or the outputs.

    units: the number of values of a pattern, divided by the product of its sizes. sizes: [rows,
    dimensions]; no dimensions if all patterns have the same size.
    """

    title: str
    units: int
    sizes: Longs
    offsets: Longs


def _sizes(patterns: Patterns, name: str, name_of_sizes: str, lengths: Longs) -> Longs:
    """Return the sizes along each dimension of the inputs or outputs `name`, for each pattern.

    name_of_sizes: the column that has the sizes. lengths: the number of values of each pattern.
    Raises FormatError if the sizes do not fit these numbers.
    """
    if name not in patterns.stored:
        return np.zeros((patterns.rows, 0), np.int64)
    given, sizes = patterns.others.get(name_of_sizes), lengths.reshape(-1, 1)
    if isinstance(given, Numbers) and len(given.shape) == 1 and given.values.dtype.kind in "iu":
        patterns.stored.add(name_of_sizes)
        sizes = given.values.astype(np.int64)
    units = lengths // np.maximum(sizes.prod(axis=1), 1)
    is_wrong = (sizes < 1).any(axis=1) | (units * sizes.prod(axis=1) != lengths)
    is_wrong |= (units != units[:1]) | (units < 1) | (not 1 <= sizes.shape[1] <= MOST_SIZES)
    problem = (
        "the number of values, divided by the product of the sizes, must be the same whole number"
        " in all patterns"
    )
    patterns.refuse_rows(name_of_sizes, problem, np.flatnonzero(is_wrong))
    return sizes


def _classes(patterns: Patterns, keep: Flags) -> list[bytes]:
    """Return the class of each row: its name. Return [] if the name of a row in `keep` cannot
    be a class.
    """
    classes = [name or b"" for name in patterns.texts("name")]
    for row in np.flatnonzero(keep).tolist() if any(classes) else []:
        if not _CLASS.fullmatch(classes[row]):
            patterns.losses.report("name", "SNNS cannot store this name as a class", row)
            return []
    return classes if any(classes) else []


def _header(sides: list[_Side], rows: Longs, classes: list[bytes], extra: Any) -> list[bytes]:
    used = {classes[row] for row in rows.tolist()} if classes else set()
    lines = [
        f"SNNS pattern definition file V{'4.2' if used or 'remap' in extra else '3.2'}",
        "generated at an unknown time\n\n",
        f"No. of patterns : {rows.size}",
        *(f"No. of {side.title} units : {side.units}" for side in sides),
    ]
    for title, _, sizes, _ in sides:
        if sizes.size:
            most = _listed(sizes[rows].max(axis=0).tolist()).decode()
            lines.append(f"No. of variable {title} dimensions : {sizes.shape[1]}")
            lines.append(f"Maximum {title} dimensions : {most}")
    lines += [f"No. of classes : {len(used)}"] if used else []
    amounts, name, numbers = (extra.get(key) for key in ("redistribution", "remap", "parameters"))
    if used and isinstance(amounts, list) and len(amounts) == len(used):
        lines.append(f"Class redistribution : {_listed(amounts).decode()}")
    if isinstance(name, str):
        lines.append(f"Remap function : {name}")
        if isinstance(numbers, list):
            lines.append(f"Remap parameters : {_listed(numbers).decode()}")
    return [*(line.encode("utf-8", "surrogateescape") for line in lines), b""]


def _listed(numbers: list[Any]) -> bytes:
    return b"[ %b ]" % b" ".join(decimals(np.array(numbers, float)))
