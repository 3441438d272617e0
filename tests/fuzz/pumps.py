"""Files that repeat one or two words many times, to find work that is not linear."""

import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

import exset
from exset.core.errors import Findings, FormatError
from exset.core.protocols import Selectable
from exset.core.source import Source
from exset.families.format import Format
from exset.grammars.tables.table import Table
from exset.testing import targets

PUMPS: Final = (
    *(b"a", b"1", b"-", b" ", b"\n", b"\r", b"\t", b"#", b"#\n", b"\\", b"\\\n", b'"', b"'", b"\0"),
    *(b"{", b"}", b"{}", b"[", b"]", b"[]", b"(", b"()", b";", b":", b",", b".", b"*", b"\xff"),
    *(b"1 ", b"-1 ", b"0.1e1", b"1-", b"a\n", b"a: ", b"- ", b"? ", b"&a ", b"*a, ", b"[a,"),
    *(b"... ", b"1 ... 2 ", b"e", b"0", b"nan ", b"=", b"==", b"\t\n", b"\\u0000", b"{a: ", b"|\n"),
)
"""The repeated words, besides those of a grammar."""

CONTEXTS: Final = MappingProxyType(
    {
        "ex": (b"", b"name:{", b"I:", b"i:", b";9[", b"max:"),
        "sample_list": (b"", b"CONDUIT_HDF5_INCLUSION\n1 0 1\n/\n", b"SINGLE-SAMPLE\n1\n/\n"),
        "schema": (b"", b"a: ", b"a: [", b"a:\n  metadata: {b: ", b'a: "'),
        "manifest": (b"", b"@FILE\tASCII_INT\n", b"@BINARY\n", b"@ASCII_FLOAT\n"),
        "loader_config": (b"", b'{"a": ', b'{"a": "', b"[", b'{"etl": [{'),
    }
)
"""The text before it, by format. Other formats have the beginnings of drawn files."""

ROWS: Final[Mapping[str, Callable[[int], bytes]]] = MappingProxyType(
    {
        "ctf": lambda row: b"|a%d 1\n" % row,
        "jsonl": lambda row: b'{"a%d": 1}\n' % row,
        "tfrecord": lambda row: exset.dumps(Table.of({f"a{row}": [1]}), format="tfrecord"),
    }
)
"""Formats whose rows each name their columns: a function makes a row with a column of its own."""

_MOST: Final = 12_000
"""The bytes of a drawn file whose units are repeated; tar archives have at least 10,240."""


def contexts(fmt: Format) -> tuple[bytes, ...]:
    """Return the texts that may precede the repeated words."""
    if fmt.name in CONTEXTS:
        return CONTEXTS[fmt.name]
    return (b"", *(data[: len(data) // 2] for data in targets.drawn(fmt, 3, 0)))


def pumped(fmt: Format, size: int) -> Iterator[tuple[str, bytes]]:
    """Yield files of about `size` bytes, each with its name.

    Text formats repeat a word after a context. All formats also repeat the units of drawn models.
    """
    if not fmt.binary:
        for context in contexts(fmt):
            for word in _words(fmt):
                count = max(size // len(word), 1)
                yield f"{context!r} and {word!r}", context + word * count
    for number, data in enumerate(targets.drawn(fmt, 12, 0)):
        try:
            model = fmt.read(Source("x", data), findings=Findings())
            if isinstance(model, Selectable) and 0 < len(model) < len(data) < _MOST:
                rows = max(size * len(model) // min(len(data), 1000), 1)
                which = np.resize(np.arange(len(model)), rows)
                yield (
                    f"units of seed {number}",
                    fmt.write(model.select(np.sort(which)), findings=Findings()),
                )
        except FormatError:  # the format cannot store some units twice
            continue


def with_own_names(fmt: Format, size: int) -> Iterator[tuple[str, bytes]]:
    """Yield a file of about `size` bytes in which no two rows have a column in common."""
    if fmt.name in ROWS:
        row = ROWS[fmt.name]
        rows = size // len(row(10_000)) + 1
        yield "rows with names of their own", b"".join(map(row, range(rows)))


def paired(fmt: Format, size: int, pairs: int) -> Iterator[tuple[str, bytes]]:
    """Yield texts of about `size` bytes in which two words alternate, or one follows the other.

    pairs: how many pairs of words to draw, always the same ones; none for a binary format.
    """
    rng, words = random.Random(fmt.name), [] if fmt.binary else _words(fmt)
    for _ in range(pairs if words else 0):
        context = rng.choice(contexts(fmt))
        one, other = rng.choice(words), rng.choice(words)
        name = f"{context!r}, {one!r} and {other!r}"
        count = max(size // len(one + other), 1)
        yield f"{name} alternating", context + (one + other) * count
        yield f"{name} afterwards", context + one * count + other * count


def _words(fmt: Format) -> list[bytes]:
    return list(dict.fromkeys((*PUMPS, *targets.words(fmt.reader))))
