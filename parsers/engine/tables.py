"""A grammar lowered to plain tables, which the driver uses to lex and to parse."""

import ast
import io
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SILENT = -1

# The columns of `Tables.rules`: the number of the rule's symbols; whether the first symbol is the
# rule's own origin; the step that it reports, or SILENT; the nonterminal that it reduces to.
(LENGTH, LOOPS, STEP, ORIGIN, RULE_SIZE) = range(5)

# The labels of lexer states: the state accepts nothing, an ignored terminal, or the first terminal;
# the following labels are the other terminals.
(NOTHING, IGNORED, TERMINALS) = range(3)

# With these limits an edge fits in 64 bits (`exset.parsers.engine.transition_cache`).
MOST_MOVES = 1 << 24
MOST_COLUMNS = 1 << 13

# The numbers in `Tables.sizes`.
(COLUMNS, NONTERMINALS, FIRST_STATE, LAST_STATE, CLASSES) = range(5)


class Tables(NamedTuple):
    """The arrays that the kernel runs on. The arrays `moves` to `rules`, except `lexer`, are flat.

    - classes: uint8[256], the class of each byte.
    - moves: uint32[lexer states, classes + 2]. A row has first, for each class of bytes, the index
      at which the row of the next state begins (0: no match); then the label of the state; then the
      state's row of `ahead`, or 0. Each lexer has a start row of its own; bytes that can be skipped
      lead back to this row.
    - ahead: uint16[rows, classes + 1], the label if the next byte has the class; the last column is
      for the end of the text.
    - lexer: int64[parser states], the start row of each state's lexer.
    - action: int16[parser states, terminals + 1]: 0 error, s + 1 shift to s, -(r + 1) reduce by
      rule r; the last column is for the end of the text.
    - goto: int16[parser states, nonterminals], the next state, 0 for none.
    - rules: int16[rules, 4].
    - sizes: int64: terminals + 1, nonterminals, the first state, the last state, classes of bytes.
    """

    classes: NDArray[np.uint8]
    moves: NDArray[np.uint32]
    ahead: NDArray[np.uint16]
    lexer: NDArray[np.int64]
    action: NDArray[np.int16]
    goto: NDArray[np.int16]
    rules: NDArray[np.int16]
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class Lowered:
    """The tables of a grammar, and the names of its terminals and steps.

    terminals: the names of the terminals, in the order of their numbers. literals: for each
    terminal, its text if it is a literal, else None. steps: the names of all steps that the grammar
    can report.
    """

    tables: Tables
    terminals: tuple[str, ...]
    literals: tuple[str | None, ...]
    steps: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Return the tables and the names as bytes: `.npy` files one after another, compressed
        together.
        """
        file = io.BytesIO()
        names = repr((self.terminals, self.literals, self.steps)).encode()
        for array in (*self.tables, np.frombuffer(names, np.uint8)):
            np.save(file, array, allow_pickle=False)
        return zlib.compress(file.getvalue(), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Lowered":
        """Make tables from the result of `to_bytes`. Raises ValueError for any other bytes."""
        try:
            file = io.BytesIO(zlib.decompress(data))
        except zlib.error as error:
            raise ValueError(f"invalid tables: {error}") from None
        *tables, names = (np.load(file, allow_pickle=False) for _ in (*Tables._fields, "names"))
        return cls(Tables(*tables), *ast.literal_eval(names.tobytes().decode()))
