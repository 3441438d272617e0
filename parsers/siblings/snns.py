"""Parse pattern files of SNNS as its kernel, version 4.2, reads them."""

import re
from math import prod
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from exset.core.errors import Findings, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.columns.arrays import Floats, Longs, as_singles, offsets_of, row_indices
from exset.grammars.siblings.findings import SNNS
from exset.grammars.siblings.rows import Rows
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.parsers.siblings.words import Words, grammar

GRAMMAR: Final = grammar(
    "snns",
    {"VERSION": "a version, such as V3.2", "GENERATED": "`generated at`"},
    {"NUMBER": "a number", "WORD": "a word", "OPEN": "`[`", "CLOSE": "`]`"},
)
KEY: Final = "snns"
"""The key of the metadata."""
COLUMNS: Final = (("inputs", "input_sizes"), ("targets", "target_sizes"))
MOST_SIZES: Final = 2
_VERSION: Final = re.compile(rb"[vV]([0-9]{1,4})\.([0-9]{1,4}).*+", re.DOTALL)
_HUGE: Final = 1 << 40
_HINTS: Final = MappingProxyType(
    {
        "snns-header": "correct the header: exset cannot read patterns without it",
        "snns-values": "correct the pattern, or the numbers in the header",
        "syntax": "write the lines of the header in the order of SNNS; a blank ends each word",
    }
)


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
    words = Words.of(GRAMMAR, source, engine, SNNS, findings, _HINTS["syntax"])
    if (at := source.data.find(b"\r") + source.start) >= source.start:
        words.findings.add(SNNS.finding("snns-line-ends", Place.in_text(source, Span(at, at + 1))))
    file = _File(words)
    starts, lengths, sizes = file.patterns()
    columns: dict[str, TableColumn] = {}
    for side, (name, name_of_sizes) in enumerate(COLUMNS):
        if file.width[side]:
            numbers = file.values(row_indices(starts[side], lengths[side]))
            rows = Rows(numbers, offsets_of(lengths[side]))
            columns[name] = rows.column(is_array=not file.most[side])
        if most := file.most[side]:
            columns[name_of_sizes] = Numbers.of(sizes[side].reshape(-1, len(most)))
    if file.width[2]:
        columns["name"] = file.names(starts[2])
    return Table(columns, file.rows, {KEY: file.extra} if file.extra else {})


class _File:
    """A file whose header is read. Raises FormatError for what SNNS refuses.

    rows: the number of patterns. width: the number of words in a pattern of fixed size: inputs,
    outputs, class. most: the maximum sizes of inputs and of outputs. end: the token after the
    header. extra: the metadata.
    """

    def __init__(self, words: Words) -> None:
        self.words, self.said, self.closes = words, dict[str, Longs](), words.where("CLOSE")
        for colon in words.where("COLON").tolist():
            given, self.end = self.listed(colon + 1)
            is_list = words.name(colon + 1) == "OPEN"
            self.said[words.name(colon - 1)] = given if is_list else np.array([colon + 1])
            self.end += not is_list
        version, last = _VERSION.match(words.raw(1)), self.end - 1
        if version is None or (int(version[1]), int(version[2])) > (4, 2):
            self.refuse(1, "SNNS 4.2 refuses the version {raw}")
        self.rows, self.classes = self.count("PATTERNS", 1), self.count("CLASSES")
        self.width = self.count("INPUTS", 1), self.count("OUTPUTS"), int(self.classes > 0)
        self.most = self.sizes("IN"), self.sizes("OUT")
        if self.most[1] and not self.width[1]:
            message = "the header has sizes of outputs, but no number of output units"
            self.refuse(self.said["OUT_SIZES"], message)
        self.extra: dict[str, Any] = {}
        if "REDISTRIBUTION" in self.said:
            amounts = np.minimum(np.abs(words.float64s(self.said["REDISTRIBUTION"])), _HUGE)
            self.extra["redistribution"] = amounts.astype(np.int64).tolist()
            if amounts.size != self.classes:
                message = f"the redistribution needs {counted(self.classes, 'number')}"
                self.refuse(last, f"{message}, one for each class")
        if "REMAP" in self.said:
            [self.extra["remap"]], _ = words.distinct(self.said["REMAP"])
        if "PARAMETERS" in self.said:
            found = np.nan_to_num(words.float64s(self.said["PARAMETERS"]))
            self.extra["parameters"] = found.tolist()
            if found.size > 5:
                self.refuse(last, "a remap function has at most 5 parameters")

    def refuse(self, tokens: ArrayLike, message: str, code: str = "snns-header") -> None:
        """Raise FormatError with this code about the first of the given tokens; do nothing if
        there are none.
        """
        self.words.refuse(code, tokens, message, _HINTS[code])

    def listed(self, at: int) -> tuple[Longs, int]:
        """Return the tokens in the brackets that open at `at`, and the token after the brackets.

        Without a bracket at `at`, return no tokens, and `at`.
        """
        if self.words.name(at) != "OPEN":
            return np.arange(0), at
        close = [*self.closes[np.searchsorted(self.closes, at) :][:1].tolist(), len(self.words)][0]
        return np.arange(at + 1, close), close + 1

    def count(self, name: str, least: int = 0) -> int:
        """Return the number after a keyword as SNNS reads it; 0 if the keyword is missing.

        least: the smallest number that is allowed.
        """
        return self.whole(self.said[name][0], least, _HUGE) if name in self.said else 0

    def whole(self, token: int, least: int, most: int) -> int:
        """Return the number of a token, truncated to an integer.

        Raises FormatError unless it is from `least` to `most`.
        """
        words = self.words
        [real] = words.float64s(np.array([token])) if words.name(token) == "NUMBER" else [-1.0]
        if not least <= real < most + 1:
            self.refuse(token, f"SNNS refuses {{raw}} here: expected a number from {least:,}")
        if not words.raw(token).lstrip(b"+").isdigit():
            words.report("snns-count", [token], lambda _: {"number": int(real)})
        return int(real)

    def sizes(self, side: str) -> list[int]:
        """Return the maximum sizes of the inputs (side "IN"), or of the outputs ("OUT")."""
        found = [self.whole(token, 1, _HUGE) for token in self.said.get(f"{side}_MOST", [])]
        expected = self.count(f"{side}_SIZES")
        if len(found) != expected or expected > MOST_SIZES:
            message = f"the header has {counted(len(found), 'maximum size')}, not {expected}"
            self.refuse(self.said[f"{side}_SIZES"], message)
        return found

    def patterns(self) -> tuple[list[Longs], list[Longs], list[Longs]]:
        """Return the first tokens of inputs, outputs and classes; how many inputs and outputs each
        pattern has; and the sizes that precede inputs and outputs.
        """
        at, starts = self.end, [list[int](), list[int](), list[int]()]
        lengths, sizes = [list[int](), list[int]()], [list[int](), list[int]()]
        if not self.words.is_a("OPEN")[at:].any() and not any(self.most):
            self.check_end(at + self.rows * sum(self.width))
            begins = at + sum(self.width) * np.arange(self.rows)
            firsts = [begins + sum(self.width[:part]) for part in range(3)]
            counts = [np.full(self.rows, width) for width in self.width[:2]]
            return firsts, counts, [begins[:0], begins[:0]]
        for _ in range(self.rows):
            for side in range(2 if self.width[1] else 1):
                (given, at), most, tokens = self.listed(at), self.most[side], len(self.words)
                if given.size != len(most):
                    message = f"expected {counted(len(most), 'size')}, found {given.size}"
                    self.refuse(min([*given.tolist(), at, tokens - 1]), message, "snns-values")
                numbers = [
                    self.whole(*each) for each in zip(given.tolist(), (1, 1), most, strict=False)
                ]
                sizes[side] += numbers
                starts[side].append(at)
                lengths[side].append(self.width[side] * prod(numbers))
                at += lengths[side][-1]
            starts[2].append(at)
            at += self.width[2]
            if at > len(self.words):
                break
        self.check_end(at)
        found = [[np.array(each, np.int64) for each in part] for part in (starts, lengths, sizes)]
        return found[0], found[1], found[2]

    def check_end(self, end: int) -> None:
        """Raise FormatError unless the last pattern ends where the text ends."""
        last, pattern = len(self.words) - 1, f"pattern {self.rows}"
        if end > last + 1:
            self.refuse(last, f"the file ends before {pattern}", "snns-values")
        if end <= last:
            self.refuse(end, f"{{raw}} comes after the last pattern, {pattern}", "snns-values")

    def values(self, tokens: Longs) -> Floats:
        """Return the numbers of tokens. Raises FormatError for a token that is not a number."""
        is_number = self.words.is_a("NUMBER", among=tokens)
        self.refuse(tokens[~is_number], "{raw} is not a number", "snns-values")
        numbers = as_singles(self.words.float64s(tokens))  # as atof, rounded twice
        self.words.report("snns-infinite", tokens[np.isinf(numbers)])
        return numbers

    def names(self, tokens: Longs) -> TableColumn:
        """Return the class of each pattern, given the tokens that have the classes."""
        found = self.words.strings(tokens)
        distinct, codes = found.distinct()
        is_version = np.array([bool(_VERSION.fullmatch(name or b"")) for name in distinct])
        is_class = self.words.is_a("NUMBER", "WORD", among=tokens) & ~is_version[codes]
        self.refuse(tokens[~is_class], "SNNS cannot read {raw} as a class", "snns-values")
        if len(distinct) != self.classes:
            classes = counted(len(distinct), "class")
            message = f"the patterns have {classes}, but the header says {self.classes}"
            self.refuse(tokens[-1], message, "snns-values")
        return text_or_bytes(found)
