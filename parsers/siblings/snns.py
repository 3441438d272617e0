"""Parse pattern files of SNNS as its kernel, version 4.2, reads them."""

import re
from math import prod
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.columns.arrays import Longs, as_singles, row_indices
from exset.grammars.siblings.findings import SNNS
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.siblings.words import Words

GRAMMAR: Final = Grammar(
    file="snns.lark",
    start="snns",
    steps=("count", "sizes", "list", "remap"),
    words=MappingProxyType(
        {
            **{"VERSION": "a version, such as V3.2", "GENERATED": "`generated at`"},
            **{"NUMBER": "a number", "WORD": "a word", "OPEN": "`[`", "CLOSE": "`]`"},
        }
    ),
)
KEY: Final = "snns"
"""The key of the metadata."""
SIZES: Final = ("input_sizes", "target_sizes")
MOST_SIZES: Final = 2
_VERSION: Final = re.compile(rb"[vV]([0-9]{1,4})\.([0-9]{1,4}).*+", re.DOTALL)
_HUGE: Final = 1 << 40
_LONGEST: Final = 64  # tokens of a header, and more
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
    words = Words.of(GRAMMAR, source, engine, SNNS, findings, lambda _: _HINTS["syntax"])
    if (at := source.data.find(b"\r") + source.start) >= source.start:
        words.findings.add(SNNS.finding("snns-line-ends", Place.in_text(source, Span(at, at + 1))))
    head = _Header(words)
    if not words.is_a("OPEN")[head.end :].any() and not head.most[0] + head.most[1]:
        head.check_end(head.end + head.patterns * sum(head.width))
        first = head.end + sum(head.width) * np.arange(head.patterns)
        starts = [first, first + head.width[0], first + head.width[0] + head.width[1]]
        lengths = [np.full(head.patterns, width, np.int64) for width in head.width]
        sizes = [first[:0], first[:0]]
    else:
        starts, lengths, sizes = head.variable()
    columns: dict[str, TableColumn] = {}
    for side, name in enumerate(("inputs", "targets")):
        if head.width[side]:
            numbers = head.values(starts[side], lengths[side])
            shaped = numbers.reshape(-1, head.width[side])
            is_list = head.most[side]
            columns[name] = (
                Lists.of(Numbers.of(numbers), lengths[side]) if is_list else Numbers.of(shaped)
            )
        if head.most[side]:
            columns[SIZES[side]] = Numbers.of(sizes[side].reshape(-1, len(head.most[side])))
    if head.width[2]:
        columns["name"] = head.names(starts[2])
    return Table(columns, head.patterns, {KEY: head.extra} if head.extra else {})


class _Header:
    """The header of a file, checked as SNNS does.

    width: the number of words in a pattern of fixed size: inputs, outputs, class. most: the
    maximum sizes of inputs and of outputs. end: the token after the header. Raises FormatError for
    a header that SNNS refuses.
    """

    def __init__(self, words: Words) -> None:
        self.words, self.said, at = words, dict[str, list[int]](), 3
        kinds = [words.grammar.terminals[kind] for kind in words.kinds[:_LONGEST].tolist()]
        colon = kinds[4]
        while kinds[at + 1 : at + 2] == [colon]:
            end = kinds.index("CLOSE", at) if kinds[at + 2] == "OPEN" else at + 2
            self.said[kinds[at]] = [*range(at + 3, end)] if end > at + 2 else [end]
            at = end + 1
        self.end = at
        version = _VERSION.match(words.raw(1))
        if version is None or (int(version[1]), int(version[2])) > (4, 2):
            self.refuse(1, f"SNNS 4.2 refuses the version {shown(words.raw(1))}")
        self.patterns = self.count("PATTERNS", 1)
        self.classes = self.count("CLASSES")
        self.width = (self.count("INPUTS", 1), self.count("OUTPUTS"), int(self.classes > 0))
        self.most = tuple(self.sizes(f"{side}_SIZES", f"{side}_MOST") for side in ("IN", "OUT"))
        if self.most[1] and not self.width[1]:
            self.refuse(self.said["OUT_SIZES"][0], "there are sizes of outputs, but no outputs")
        self.extra: dict[str, Any] = {}
        if "REDISTRIBUTION" in self.said:
            amounts = np.abs(self.reals("REDISTRIBUTION"))
            self.extra["redistribution"] = [int(each) for each in np.minimum(amounts, _HUGE)]
            if len(amounts) != self.classes:
                message = f"the redistribution needs {counted(self.classes, 'number')}"
                self.refuse(at - 1, f"{message}, one for each class")
        if "REMAP" in self.said:
            name = words.raw(self.said["REMAP"][0])
            self.extra["remap"] = name.decode("utf-8", "surrogateescape")
        if "PARAMETERS" in self.said:
            self.extra["parameters"] = np.nan_to_num(self.reals("PARAMETERS")).tolist()
            if len(self.extra["parameters"]) > 5:
                self.refuse(at - 1, "a remap function has at most 5 parameters")

    def refuse(self, token: int, message: str, code: str = "snns-header") -> None:
        """Raise FormatError with this message about the token with this index."""
        raise self.words.error(token, code, message, _HINTS[code])

    def reals(self, name: str) -> Any:
        """Return the numbers after the keyword `name` as float64."""
        return self.words.float64s(np.array(self.said[name], np.int64))

    def count(self, name: str, least: int = 0) -> int:
        """Return the number after the keyword `name`, truncated as SNNS does; 0 if it is missing.

        least: the smallest number that is allowed.
        """
        if name not in self.said:
            return 0
        [token] = self.said[name]
        return self.whole(token, least, _HUGE)

    def whole(self, token: int, least: int, most: int) -> int:
        """Return the number of a token, truncated to an integer.

        Raises FormatError unless it is from `least` to `most`.
        """
        words, raw = self.words, shown(self.words.raw(token))
        [real] = words.float64s(np.array([token])) if words.is_a("NUMBER")[token] else [-1.0]
        if not least <= real < most + 1:
            self.refuse(token, f"SNNS refuses {raw} here: expected a number from {least:,}")
        if not words.raw(token).lstrip(b"+").isdigit():
            words.report("snns-count", [token], lambda _: {"number": int(real)})
        return int(real)

    def sizes(self, name: str, most: str) -> list[int]:
        """Return the largest sizes of the inputs, or of the outputs, that the header declares.

        name, most: the keywords for the number of dimensions and for the sizes.
        """
        found = [self.whole(token, 1, _HUGE) for token in self.said.get(most, [])]
        if len(found) != self.count(name) or len(found) > MOST_SIZES:
            message = (
                f"the header has {counted(len(found), 'maximum size')}, not {self.count(name)}"
            )
            self.refuse(self.said[name][0], message)
        return found

    def check_end(self, end: int) -> None:
        """Raise FormatError unless `end`, the token after the last pattern, is the end of the
        text.
        """
        last = len(self.words) - 1
        if end > last + 1:
            self.refuse(last, f"the file ends before pattern {self.patterns}", "snns-values")
        if end <= last:
            raw = shown(self.words.raw(end))
            message = f"{raw} comes after pattern {self.patterns}, the last one"
            self.refuse(end, message, "snns-values")

    def variable(self) -> tuple[list[Longs], list[Longs], list[Longs]]:
        """Find the parts of each pattern of variable size, which are inputs, outputs and class.

        Return the first token of each part, its length, and the sizes that the patterns state.
        """
        is_open, is_close = (self.words.is_a(name).tolist() for name in ("OPEN", "CLOSE"))
        at, tokens = self.end, len(self.words)
        starts, lengths, sizes = ([list[int]() for _ in range(count)] for count in (3, 3, 2))
        for _ in range(self.patterns):
            for side in range(2 if self.width[1] else 1):
                given = list[int]()
                if at < tokens and is_open[at]:
                    while at + 1 < tokens and not is_close[at := at + 1]:
                        given.append(at)
                    at += 1
                if len(given) != len(self.most[side]):
                    where = min(given[0] if given else at, tokens - 1)
                    message = (
                        f"expected {counted(len(self.most[side]), 'size')}, found {len(given)}"
                    )
                    self.refuse(where, message, "snns-values")
                pairs = zip(given, self.most[side], strict=True)
                numbers = [self.whole(token, 1, most) for token, most in pairs]
                sizes[side] += numbers
                starts[side].append(at)
                lengths[side].append(self.width[side] * prod(numbers))
                at += lengths[side][-1]
            starts[2].append(at)
            at += self.width[2]
            if at > tokens:
                break
        self.check_end(at)
        made = ([np.array(each, np.int64) for each in part] for part in (starts, lengths, sizes))
        return tuple(made)  # type: ignore[return-value]

    def values(self, starts: Longs, lengths: Longs) -> Any:
        """Return the numbers of all patterns, given the first token of each and its length.

        Raises FormatError for a token that is not a number.
        """
        tokens = row_indices(starts, lengths)
        is_number = self.words.is_a("NUMBER", among=tokens)
        if not is_number.all():
            token = int(tokens[is_number.argmin()])
            self.refuse(token, f"{shown(self.words.raw(token))} is no number", "snns-values")
        numbers = as_singles(self.words.float64s(tokens))  # as atof, rounded twice
        self.words.report("snns-infinite", tokens[np.isinf(numbers)])
        return numbers

    def names(self, tokens: Longs) -> TableColumn:
        """Return the class of each pattern, given the tokens that are classes."""
        is_word = self.words.is_a("NUMBER", "WORD", among=tokens)
        found = self.words.strings(tokens)
        distinct, codes = found.distinct()
        is_version = [_VERSION.fullmatch(name or b"") is not None for name in distinct]
        for token in tokens[~is_word | np.array(is_version)[codes]][:1].tolist():
            raw = shown(self.words.raw(token))
            self.refuse(token, f"SNNS cannot read {raw} as a class", "snns-values")
        if len(distinct) != self.classes:
            message = f"the number of classes is {len(distinct)}, the header says {self.classes}"
            self.refuse(int(tokens[-1]), message, "snns-values")
        return text_or_bytes(found)
