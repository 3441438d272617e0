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


def packed_rule(length: int, loops: bool, step: int, origin: int) -> int:
    """A rule as one number.

    length: how many symbols it has. loops: whether the first one is its own origin. step: what it
    reports, or SILENT. origin: the nonterminal that it makes.
    """
    return length | loops << LOOPS | (step + 1) << STEP | origin << ORIGIN


class Tables(NamedTuple):
    """The arrays that the kernel runs on.

    moves: int32[lexer states * 256]: 256 times the state that a byte leads to, and what it accepts:
    0 nothing, 1 it depends on the byte after it, n + 2 the terminal n. State 0 is dead. row:
    int16[lexer states]: for those that it depends in, the row of ahead: int16[rows * 256], the
    terminal that is accepted before a byte, or -1. lexer: int32[parser states], 256 times the
    first lexer state of each. action: int16[parser states * (terminals + 1)]: 0 none, s + 1 shift
    to s, -(r + 1) reduce by rule r; the last column is for the end. goto: int16[parser states *
    nonterminals]. rules: int64[rules], of `packed_rule`. ignored: bool[terminals]. sizes: int64:
    terminals + 1, nonterminals, the first state and the last one.
    """

    moves: NDArray[np.int32]
    ahead: NDArray[np.int16]
    row: NDArray[np.int16]
    lexer: NDArray[np.int32]
    action: NDArray[np.int16]
    goto: NDArray[np.int16]
    rules: NDArray[np.int64]
    ignored: NDArray[np.bool_]
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
