"""Write pattern files of SNNS: version 3.2, or 4.2 with classes or a remap function."""

import re
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings
from exset.grammars.columns.arrays import Longs, as_singles
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.siblings.sparse import is_single
from exset.grammars.tables.columns import Lists, Numbers
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.parsers.siblings.decimals import decimals
from exset.parsers.siblings.snns import KEY, MOST_SIZES, SIZES

_SIDES: Final = (("inputs", "input", "Input"), ("targets", "output", "Output"))
_INFINITE: Final = MappingProxyType({"inf": b"1e39", "-inf": b"-1e39"})
_IN_A_LINE: Final = 10
_CLASS: Final = re.compile(rb"(?![vV][0-9]+\.[0-9])[^ \t\r\n\f\0\x1a#\[\]][^ \t\r\n\f\0\x1a#]*+")


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the patterns in a table: its inputs, its targets, and its names as classes.

    Inputs and targets are arrays; or lists, and the sizes of each pattern are in `input_sizes` and
    `target_sizes`. Numbers are rounded to 32 bits. Raises FormatError for columns and values that
    the format cannot store; with `lossy`, patterns with NaN are left out.
    """
    losses = Losses(lossy, Findings() if findings is None else findings)
    patterns, kept = Patterns.of(table, losses, "SNNS"), list[str]()
    keep, sides = np.ones(table.rows, np.bool_), []
    for side, (name, *_) in enumerate(_SIDES):
        column = patterns.others.get(name)
        if isinstance(column, Lists) and is_single(column.items, "biuf"):
            kept += [name, SIZES[side]]
            found = _lists(column, side, patterns)
        else:
            groups = patterns.targets if side else patterns.inputs
            values = patterns.joined(groups, name)
            offsets = np.arange(table.rows + 1) * values.shape[1]
            found = _Side(values.reshape(-1), offsets, values.shape[1], None)
        rows = np.searchsorted(found.offsets, np.flatnonzero(np.isnan(found.values)), "right") - 1
        for row in np.unique(rows).tolist():
            losses.report(name, "SNNS cannot store the pattern: it has no value for NaN", row)
        keep[rows] = False
        sides.append(found)
    if not keep.any() or not sides[0].units:
        patterns.refuse("inputs", "SNNS needs a pattern with inputs")
    classes = _classes(patterns.others.get("name"), keep, losses)
    patterns.drop_others([*kept, "name"] if classes else kept)
    extra = table.metadata.get(KEY)
    extra = extra if isinstance(extra, dict) else {}
    lines = _header(sides, np.flatnonzero(keep), classes, extra)
    texts = [decimals(as_singles(side.values), _INFINITE) for side in sides]
    for number, row in enumerate(np.flatnonzero(keep).tolist(), 1):
        for part, words, (*_, title) in zip(sides, texts, _SIDES, strict=True):
            if part.units:
                begin, end = part.offsets[row : row + 2].tolist()
                lines.append(f"# {title} pattern {number}:".encode())
                if part.sizes is not None:
                    lines.append(_listed(part.sizes[row].tolist()))
                for at in range(begin, end, _IN_A_LINE):
                    lines.append(b" ".join(words[at : min(at + _IN_A_LINE, end)]))
        lines += [classes[row]] if classes else []
    return b"\n".join([*lines, b""])


class _Side:
    """The inputs, or the targets, of all patterns as text.

    units: how many values a pattern of fixed size has. sizes: the sizes of each pattern, if they
    vary.
    """

    def __init__(self, values: Any, offsets: Longs, units: int, sizes: Longs | None) -> None:
        self.values, self.offsets, self.units, self.sizes = values, offsets, units, sizes


def _lists(column: Lists, side: int, patterns: Patterns) -> _Side:
    """Return the values of a column of lists; side: 0 for inputs, 1 for targets.

    Raises FormatError if the column of sizes does not fit it.
    """
    name, given = SIZES[side], patterns.others.get(SIZES[side])
    assert isinstance(column.items, Numbers)
    sizes = column.lengths.reshape(-1, 1)
    if isinstance(given, Numbers) and len(given.shape) == 1 and given.values.dtype.kind in "iu":
        sizes = given.values.astype(np.int64)
    units = column.lengths // np.maximum(sizes.prod(axis=1), 1)
    is_wrong = (sizes < 1).any(axis=1) | (units * sizes.prod(axis=1) != column.lengths)
    is_wrong |= (units != units[:1]) | (units < 1)
    if is_wrong.any() or not 1 <= sizes.shape[1] <= MOST_SIZES:
        row = int(is_wrong.argmax())
        patterns.refuse(name, "the sizes do not fit the number of values of the pattern", row)
    return _Side(column.items.values, column.offsets, int(units[0]) if units.size else 0, sizes)


def _classes(names: object, keep: Any, losses: Losses) -> list[bytes]:
    """Return the class of each row; an empty list if the names cannot be classes.

    keep: which rows are written; only their names must be possible classes.
    """
    if not isinstance(names, Strings) or not names.present.any():
        return []
    classes = [name or b"" for name in Strings.unchecked(**vars(names))]
    for row in np.flatnonzero(keep).tolist():
        if not _CLASS.fullmatch(classes[row]):
            losses.report("name", "SNNS cannot store the name as a class", row)
            return []
    return classes


def _header(sides: list[_Side], rows: Longs, classes: list[bytes], extra: Any) -> list[bytes]:
    used = {classes[row] for row in rows.tolist()} if classes else set()
    lines = [
        b"SNNS pattern definition file V%b" % (b"4.2" if used or "remap" in extra else b"3.2"),
        b"generated at an unknown time\n\n",
        b"No. of patterns : %d" % len(rows),
    ]
    named = [pair for pair in zip(sides, _SIDES, strict=True) if pair[0].units]
    lines += [b"No. of %b units : %d" % (title.encode(), s.units) for s, (_, title, _) in named]
    for side, (_, title, _) in named:
        if side.sizes is not None:
            most = side.sizes[rows].max(axis=0).tolist()
            lines.append(f"No. of variable {title} dimensions : {len(most)}".encode())
            lines.append(f"Maximum {title} dimensions : ".encode() + _listed(most))
    if used:
        lines.append(b"No. of classes : %d" % len(used))
        amounts = extra.get("redistribution")
        if isinstance(amounts, list) and len(amounts) == len(used):
            lines.append(b"Class redistribution : " + _listed(amounts))
    if isinstance(name := extra.get("remap"), str):
        lines.append(b"Remap function : " + name.encode("utf-8", "surrogateescape"))
        if isinstance(numbers := extra.get("parameters"), list):
            lines.append(b"Remap parameters : " + _listed(numbers))
    return [*lines, b""]


def _listed(numbers: list[Any]) -> bytes:
    return b"[ " + b"".join(text + b" " for text in decimals(np.array(numbers, float))) + b"]"
