"""The nodes of a part of a text: their events, and what remains on the stack after the part."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.parsers.engine.stream import ParseStream


@dataclass
class Part:
    """The events of one kind, as lists of arrays: the pieces of each attribute are joined later.

    `nesting` explains the events. A kind is the rows of a table, the tokens of a terminal, or the
    parents of rows.

    - For rows and tokens, `first` is the first byte, and `second` is the byte after the last. For
      parents, `first` is the row of the child, and `second` is the row of the parent.
    - `third` is the row of a token, or the table of a parent.
    - `values` has, for each piece of tokens, the numbers, or an empty array for text. It has None
      for a piece that is not yet converted or checked.
    """

    first: list[Longs] = field(default_factory=list)
    second: list[Longs] = field(default_factory=list)
    third: list[Longs] = field(default_factory=list)
    values: list[NDArray[Any] | None] = field(default_factory=list)

    def extend(self, other: "Part") -> None:
        """Append the pieces of another part."""
        self.first += other.first
        self.second += other.second
        self.third += other.third
        self.values += other.values


class Fragment(NamedTuple):
    """The nodes of a part of a text. The part begins after an item of a list.

    - depth: the number of symbols on the stack before the part; the last of them is the list.
    - begin: the first byte of the first token.
    - parts: the part of each event.
    - rows: int64 [tables], the number of rows.
    - symbols: int64 [symbols, SYMBOL_SIZE]: first what the part adds to the list, then each symbol
      after the list.
    - kinds, starts, ends: the items of these symbols.
    - steps, before: the steps that wait for the next token.
    - rest: the tokens and steps from the first rule on that takes symbols before the part from the
      stack; None if there is no such rule.
    """

    depth: int
    begin: int
    parts: dict[int, Part]
    rows: Longs
    symbols: NDArray[np.int64]
    kinds: Longs
    starts: Longs
    ends: Longs
    steps: NDArray[np.int16]
    before: Longs
    rest: ParseStream | None
