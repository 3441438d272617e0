"""A grammar lowered to plain tables: what a driver needs to lex, to parse and to name things."""

import ast
import io
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SILENT = -1

# Where the parts of a packed rule begin; a rule has less than 65536 symbols.
(LOOPS, STEP, ORIGIN) = (16, 20, 40)
PART = 0xFFFF

# What a lexer accepts: nothing, one of the terminals that are ignored, or the first terminal and
# those after it.
(NOTHING, IGNORED, TERMINALS) = range(3)

# So that what a token does fits in 64 bits (`exset.parsers.engine.transition_cache`).
MOST_MOVES = 1 << 24
MOST_COLUMNS = 1 << 13

# What is in `Tables.sizes`.
(COLUMNS, NONTERMINALS, FIRST_STATE, LAST_STATE, CLASSES) = range(5)


def packed_rule(length: int, loops: bool, step: int, origin: int) -> int:
    """A rule as one number.

    length: how many symbols it has. loops: whether the first one is its own origin. step: what it
    reports, or SILENT. origin: the nonterminal that it makes.
    """
    return length | loops << LOOPS | (step + 1) << STEP | origin << ORIGIN


class Tables(NamedTuple):
    """The arrays that the kernel runs on.

    classes: uint8[256], the class of each byte. moves: uint32[lexer states, classes + 2], row by
    row: where in it the row begins to which a byte of a class leads (0: the lexer is dead), then
    what is accepted there whatever follows, then the row of `ahead` if that depends, or 0. ahead:
    uint16[rows, classes], what is accepted before a byte of a class. A lexer starts in a row of its
    own, in which a blank that can be left out leads to that row again. lexer: int64[parser
    states], the row in which each one's lexer starts. action: int16[parser states, terminals + 1]:
    0 none, s + 1 shift to s, -(r + 1) reduce by rule r; the last column is for the end. goto:
    int16[parser states, nonterminals]. rules: int64[rules], of `packed_rule`. sizes: int64:
    terminals + 1, nonterminals, the first state and the last one, classes of bytes.
    """

    classes: NDArray[np.uint8]
    moves: NDArray[np.uint32]
    ahead: NDArray[np.uint16]
    lexer: NDArray[np.int64]
    action: NDArray[np.int16]
    goto: NDArray[np.int16]
    rules: NDArray[np.int64]
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class Lowered:
    """The tables of a grammar and its names.

    terminals: in the order of their numbers. literals: the text of those that are one, else None.
    steps: every step that the grammar can report.
    """

    tables: Tables
    terminals: tuple[str, ...]
    literals: tuple[str | None, ...]
    steps: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """The whole as `.npy` files one after the other, the names being the last; compressed."""
        file = io.BytesIO()
        names = repr((self.terminals, self.literals, self.steps)).encode()
        for array in (*self.tables, np.frombuffer(names, np.uint8)):
            np.save(file, array, allow_pickle=False)
        return zlib.compress(file.getvalue(), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Lowered":
        """What `to_bytes` wrote; ValueError if it is something else, or is damaged."""
        try:
            file = io.BytesIO(zlib.decompress(data))
        except zlib.error as error:
            raise ValueError(f"these are no tables: {error}") from None
        *tables, names = (np.load(file, allow_pickle=False) for _ in (*Tables._fields, "names"))
        return cls(Tables(*tables), *ast.literal_eval(names.tobytes().decode()))
