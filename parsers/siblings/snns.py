"""Parse and write pattern files of SNNS, as its kernel, version 4.2, reads them."""

import re
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.columns.arrays import Longs, as_singles, offsets_of, row_indices
from exset.grammars.siblings.findings import SNNS
from exset.grammars.siblings.patterns import Patterns, is_vector
from exset.grammars.siblings.rows import Rows
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected
from exset.parsers.siblings.decimals import BEYOND, decimals
from exset.parsers.siblings.words import Words, grammar

GRAMMAR: Final = grammar(
    "snns",
    {"VERSION": "a version, such as V3.2", "GENERATED": "`generated at`"},
    {"NUMBER": "a number", "WORD": "a word", "OPEN": "`[`", "CLOSE": "`]`"},
)
_HINTS: Final = MappingProxyType(
    {
        rb"[^ \t\r\n#]+#": "write a space before the `#` of a comment",
        rb"\[[^ \t\r\n]|[^ \t\r\n]*\]": "write spaces around brackets, as in [ 2 ]",
        rb"[^ \t\r\n]*[\f\0]": "separate words only by spaces, tabs and line breaks",
        rb"": "write the lines of the header in the order of SNNS; a blank ends each word",
    }
)
"""Advice on the text from an unexpected word on; the first that matches is given."""
_KEY: Final = "snns"  # of the metadata
_SIDES: Final = (("inputs", "input_sizes", "input"), ("targets", "target_sizes", "output"))
_VERSION: Final = re.compile(rb"[vV]([0-9]{1,4})\.([0-9]{1,4}).*+", re.DOTALL)
_CLASS: Final = re.compile(rb"(?![vV][0-9]+\.[0-9])[^ \t\r\n\f\0\x1a#\[\]][^ \t\r\n\f\0\x1a#]*+")
_LARGEST: Final = (1 << 31) - 1
_MOST_SIZES: Final = 2
_IN_A_LINE: Final = 10


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return a table of patterns: `inputs`, and if the file has them `targets` and `name` (the
    class).

    Inputs and targets are float32 [rows, units]. Patterns of variable sizes become lists instead,
    and their sizes `input_sizes` and `target_sizes`, int64 [rows, dimensions]. The metadata has
    the redistribution of classes, and the remap function. Raises FormatError for a text that SNNS
    refuses.
    """
    words = Words.of(GRAMMAR, source, engine, SNNS, findings, _hint)
    words.report("snns-line-ends", words.before(b"\r"))
    header = _Header(words)
    parts, lengths, sizes = header.patterns()
    columns: dict[str, TableColumn] = {}
    for side, (name, name_of_sizes, _) in enumerate(_SIDES):
        tokens, is_array = parts[side], not header.most[side].size
        if header.units[side]:
            is_number = words.is_a("NUMBER", among=tokens)
            words.refuse("snns-values", tokens[~is_number], "{raw} is not a number")
            numbers = as_singles(words.float64s(tokens))  # as atof, rounded twice
            words.report("snns-infinite", tokens[np.isinf(numbers)])
            columns[name] = Rows(numbers, offsets_of(lengths[side])).column(is_array)
        if not is_array:
            columns[name_of_sizes] = Numbers.of(sizes[side])
    if header.classes:
        columns["name"] = _classes(words, parts[2], header.classes)
    return Table(columns, header.rows, {_KEY: header.extra} if header.extra else {})


def _hint(unexpected: Unexpected) -> str:
    return next(hint for each, hint in _HINTS.items() if re.match(each, unexpected.after))


class _Header:
    """The header of a file. Raises FormatError for what SNNS refuses.

    said: the tokens after each keyword. end: the token after the header. rows: the number of
    patterns. units: how many inputs and outputs a pattern of fixed size has, and whether it has a
    class. most: the maximum sizes of inputs and of outputs. extra: the metadata.
    """

    def __init__(self, words: Words) -> None:
        self.words, self.said, self.end, colons = words, dict[str, Longs](), 0, words.where("COLON")
        for colon, close in zip(colons.tolist(), words.next(colons, "CLOSE").tolist(), strict=True):
            is_list = words.name(colon + 1) == "OPEN"
            tokens = np.arange(colon + 2, close) if is_list else np.array([colon + 1])
            self.said[words.name(colon - 1)] = tokens
            self.end = close + 1 if is_list else colon + 2
        version = _VERSION.match(words.raw(1))
        if version is None or (int(version[1]), int(version[2])) > (4, 2):
            words.refuse("snns-header", 1, "SNNS 4.2 refuses the version {raw}")
        self.rows, self.classes = self.count("PATTERNS", 1), self.count("CLASSES")
        outputs = self.count("OUTPUTS", int("OUT_SIZES" in self.said))
        self.units = self.count("INPUTS", 1), outputs, int(self.classes > 0)
        sizes = [self.count(f"{side}_SIZES", most=_MOST_SIZES) for side in ("IN", "OUT")]
        lists = self.listed("IN_MOST", sizes[0]), self.listed("OUT_MOST", sizes[1])
        self.most, self.extra = [self.whole(each, 1) for each in lists], dict[str, Any]()
        if "REDISTRIBUTION" in self.said:
            tokens = self.listed("REDISTRIBUTION", self.classes)
            given = words.float64s(tokens)
            amounts = np.minimum(np.abs(given), _LARGEST).astype(np.int64)
            is_other = amounts != given
            words.report("snns-count", tokens[is_other], number=amounts[is_other])
            self.extra["redistribution"] = amounts.tolist()
        if "REMAP" in self.said:
            [self.extra["remap"]], _ = words.distinct(self.said["REMAP"])
        if "PARAMETERS" in self.said:
            numbers = self.said["PARAMETERS"]
            self.extra["parameters"] = np.nan_to_num(words.float64s(numbers)).tolist()
            words.refuse("snns-header", numbers[5:], "a remap function has at most 5 parameters")

    def count(self, name: str, least: int = 0, most: int = _LARGEST) -> int:
        """Return the number after a keyword, from `least` to `most`; 0 without the keyword."""
        return int(self.whole(self.said[name], least, most)[0]) if name in self.said else 0

    def listed(self, name: str, size: int) -> Longs:
        """Return the tokens of the list after a keyword, which must have this size."""
        tokens = self.said.get(name, np.arange(0))
        if tokens.size != size:
            message = f"{{raw}} has {counted(tokens.size, 'number')}, but SNNS expects {size}"
            self.words.refuse("snns-header", self.words.where(name), message)
        return tokens

    def whole(self, tokens: Longs, least: int, most: ArrayLike = _LARGEST) -> Longs:
        """Return numbers, each from `least` to `most`, as SNNS reads them: truncated."""
        words, numbers = self.words, self.words.float64s(tokens)
        is_right = (numbers >= least) & (numbers < np.add(most, 1))
        for at in np.flatnonzero(~is_right)[:1].tolist():
            last = np.broadcast_to(most, numbers.shape)[at]
            words.refuse("snns-header", tokens[at], f"{{raw}} must be from {least} to {last:,}")
        found = numbers.astype(np.int64)
        is_cut = found != numbers
        words.report("snns-count", tokens[is_cut], number=found[is_cut])
        return found

    def patterns(self) -> tuple[list[Longs], Longs, list[Longs]]:
        """Return the tokens of all inputs, outputs and classes; how many of them each pattern
        has, int64 [3, rows]; and its sizes of inputs and outputs, each int64 [rows, dimensions].
        """
        words, rows = self.words, self.rows
        opens, closes = (some[some >= self.end] for some in map(words.where, ("OPEN", "CLOSE")))
        is_value, is_list = np.ones(len(words) - self.end, np.bool_), closes - opens > 1
        is_value[row_indices(opens - self.end, closes - opens + 1)] = False
        tokens, lists = self.end + np.flatnonzero(is_value), opens[is_list]
        self.check_size(tokens, rows)
        sides = [side for side, most in enumerate(self.most) if most.size]
        if lists.size != rows * len(sides):
            found, wanted = counted(lists.size, "list"), rows * len(sides)
            message = f"the patterns have {found} of sizes, but the header needs {wanted}"
            words.refuse("snns-values", [*lists[wanted:], len(words) - 1], message)
        sizes = [np.ones((rows, 0), np.int64) for _ in range(3)]
        for side, begins in zip(sides, lists.reshape(rows, -1).T, strict=True):
            most = self.most[side]
            is_wrong = words.next(begins, "CLOSE") - begins - 1 != most.size
            words.refuse("snns-values", begins[is_wrong], f"expected {counted(most.size, 'size')}")
            places = (begins[:, np.newaxis] + 1 + np.arange(most.size)).ravel()
            sizes[side] = self.whole(places, 1, np.tile(most, rows)).reshape(rows, -1)
        products = [size.prod(axis=1, dtype=np.float64) for size in sizes]  # integers may overflow
        numbers = np.minimum(products * np.array(self.units)[:, np.newaxis], tokens.size + 1)
        lengths = numbers.astype(np.int64)
        bounds = offsets_of(lengths.T.ravel())
        self.check_size(tokens, int(bounds[-1]))
        words.refuse("snns-values", tokens[bounds[-1] :], "{raw} comes after the last pattern")
        starts, before = bounds[:-1].reshape(rows, 3).T, np.searchsorted(tokens, opens)
        is_right = np.isin(before, starts[:2])
        is_right[is_list] = before[is_list] == starts[sides].T.ravel()
        words.refuse("snns-values", opens[~is_right], "no pattern has sizes here")
        parts = zip(starts, lengths, strict=True)
        return [tokens[row_indices(*part)] for part in parts], lengths, sizes

    def check_size(self, tokens: Longs, size: int) -> None:
        """Raise FormatError unless there are `size` tokens of values."""
        if tokens.size < size:
            message = f"the file ends before pattern {self.rows}"
            self.words.refuse("snns-values", len(self.words) - 1, message)


def _classes(words: Words, tokens: Longs, count: int) -> TableColumn:
    """Return the class of each pattern. count: how many different ones there must be."""
    found = words.strings(tokens)
    distinct, codes = found.distinct()
    is_version = np.array([bool(_VERSION.fullmatch(name or b"")) for name in distinct])
    words.refuse("snns-values", tokens[is_version[codes]], "SNNS cannot read {raw} as a class")
    if len(distinct) != count:
        classes = counted(len(distinct), "class")
        message = f"the patterns have {classes}, but the header says {count}"
        words.refuse("snns-values", tokens[-1], message)
    return text_or_bytes(found)


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the patterns in a table, in version 3.2, or 4.2 with classes or a remap function.

    Inputs and targets are arrays; or lists, and the sizes of each pattern are in `input_sizes` and
    `target_sizes`. Names become classes. Numbers are rounded to 32 bits. Raises FormatError for
    columns and values that the format cannot store; with `lossy`, patterns with NaN are left out.
    """
    patterns, keep = Patterns.of(table, "SNNS", findings, lossy), np.ones(table.rows, np.bool_)
    sides = [_Side.of(patterns, *each) for each in _SIDES]
    for (name, *_), side in zip(_SIDES, sides, strict=True):
        wrong = side.rows.having(np.isnan(side.rows.values))
        patterns.lose(name, "SNNS cannot store this pattern, because it contains NaN", wrong)
        keep[wrong] = False
    if not (keep.any() and sides[0].units):
        patterns.refuse("inputs", "SNNS needs at least one pattern, and patterns need inputs")
    names, rows = [name or b"" for name in patterns.texts("name")], np.flatnonzero(keep).tolist()
    classes = {names[row]: row for row in rows} if any(names) else {}
    wrong_names = [row for name, row in classes.items() if not _CLASS.fullmatch(name)]
    if wrong_names:
        patterns.losses.report("name", "SNNS cannot store this name as a class", wrong_names[0])
        classes = {}
    patterns.drop_others()
    sides, extra = [side for side in sides if side.units], table.metadata.get(_KEY)
    lines = _header(sides, rows, len(classes), extra if isinstance(extra, dict) else {})
    texts = [decimals(as_singles(side.rows.values), BEYOND) for side in sides]
    for number, row in enumerate(rows, 1):
        for side, words in zip(sides, texts, strict=True):
            lines.append(f"# {side.title.capitalize()} pattern {number}:".encode())
            lines += [_listed(side.sizes[row]).encode()] if side.sizes.size else []
            begin, end = side.rows.offsets[row : row + 2].tolist()
            for at in range(begin, end, _IN_A_LINE):
                lines.append(b" ".join(words[at : min(at + _IN_A_LINE, end)]))
        lines += names[row : row + 1] if classes else []
    return b"\n".join([*lines, b""])


class _Side(NamedTuple):
    """The inputs, or the outputs.

    units: the number of values of a pattern, divided by the product of its sizes. sizes: int64
    [rows, dimensions]; no dimensions if all patterns have the same size.
    """

    title: str
    rows: Rows
    sizes: Longs
    units: int

    @classmethod
    def of(cls, patterns: Patterns, name: str, name_of_sizes: str, title: str) -> "_Side":
        """Return the side in the columns of these names. Raises FormatError for wrong sizes."""
        rows = patterns.rows_of(name)
        sizes = np.zeros((patterns.rows, 0), np.int64)
        if name in patterns.stored:  # lists
            sizes, given = rows.lengths.reshape(-1, 1), patterns.others.get(name_of_sizes)
            if isinstance(given, Numbers) and len(given.shape) == 1 and is_vector(given):
                patterns.stored.add(name_of_sizes)
                sizes = given.values.astype(np.int64)
        product = sizes.prod(axis=1)
        units = rows.lengths // np.maximum(product, 1)
        if sizes.size:
            is_wrong = (sizes < 1).any(axis=1) | (units * product != rows.lengths) | (units < 1)
            is_wrong |= (units != units[0]) | (sizes.shape[1] > _MOST_SIZES)
            problem = (
                "the number of values, divided by the product of the sizes, must be the same whole"
                " number in all patterns"
            )
            patterns.refuse_rows(name_of_sizes, problem, np.flatnonzero(is_wrong))
        return cls(title, rows, sizes, int(units.max(initial=0)))


def _header(sides: list[_Side], rows: list[int], classes: int, extra: Any) -> list[bytes]:
    """Return the lines of the header. classes: their number. extra: the metadata."""
    said: dict[str, object] = {"No. of patterns": len(rows)}
    said |= {f"No. of {side.title} units": side.units for side in sides}
    for title, _, sizes, _ in sides:
        if sizes.size:
            said[f"No. of variable {title} dimensions"] = sizes.shape[1]
            said[f"Maximum {title} dimensions"] = _listed(sizes[rows].max(axis=0))
    amounts, remap, numbers = (extra.get(key) for key in ("redistribution", "remap", "parameters"))
    said |= {"No. of classes": classes} if classes else {}
    if classes and isinstance(amounts, list) and len(amounts) == classes:
        said["Class redistribution"] = _listed(amounts)
    if isinstance(remap, str):
        said["Remap function"] = remap
        said |= {"Remap parameters": _listed(numbers)} if isinstance(numbers, list) else {}
    lines = [
        f"SNNS pattern definition file V{'4.2' if classes or 'remap' in extra else '3.2'}",
        "generated at an unknown time\n\n",
        *(f"{name} : {value}" for name, value in said.items()),
    ]
    return [*(line.encode("utf-8", "surrogateescape") for line in lines), b""]


def _listed(numbers: ArrayLike) -> str:
    return f"[ {b' '.join(decimals(np.array(numbers, float))).decode()} ]"
