"""Make one table for all lexers of a grammar; each lexer matches another set of terminals.

A lexer runs the automata of its terminals in parallel. The result is the same as that of Lark's
contextual lexer: of the terminals that match, the first in Lark's order wins, with its longest
match.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from lark.lexer import TerminalDef
from numpy.typing import NDArray

from exset.parsers.engine.automata import Unit, automaton, byte_classes, units
from exset.parsers.engine.expressions import DEAD, END, Automaton
from exset.parsers.engine.tables import IGNORED, NOTHING, TERMINALS

_State = tuple[tuple[Unit, tuple[int, ...]], ...]
"""The units of a lexer that can still match, each with the states of its automata."""

_NO_MATCH: Final[_State] = ()


class Lexers(NamedTuple):
    """The arrays of `Tables` that lexers use.

    starts: the row of `moves` in which each lexer starts.
    """

    classes: NDArray[np.uint8]
    moves: NDArray[np.uint32]
    ahead: NDArray[np.uint16]
    starts: NDArray[np.uint32]


class _States(NamedTuple):
    """The states of all lexers. State 0 is `_NO_MATCH`: nothing can match any more.

    A label says which token ends in the state. moves: int[states, classes], the next state. label:
    int[states], the label of the state. ahead: int[states, classes + 1], the label of the state for
    each class of the next byte; the last column is for the end of the text.
    """

    moves: NDArray[np.intp]
    label: NDArray[np.intp]
    ahead: NDArray[np.intp]


def lexers(
    terminals: Sequence[TerminalDef],
    numbers: dict[str, int],
    ignored: frozenset[str],
    accepted: Sequence[frozenset[str]],
) -> Lexers:
    """Return the tables of all lexers: one lexer for each set of terminals in `accepted`.

    numbers: the number of each terminal. ignored: the terminals that the grammar ignores.
    """
    automata = {terminal.name: automaton(terminal) for terminal in terminals}
    classes, sample = byte_classes(automata.values())
    labels = {name: IGNORED if name in ignored else numbers[name] + TERMINALS for name in automata}
    orders = [units([one for one in terminals if one.name in allowed]) for allowed in accepted]
    states, starts = _minimal(*_combined(orders, automata, labels, sample))
    count, width = len(states.moves), len(sample) + 2
    # Each lexer starts in a copy of its first state, in which skipped bytes lead back to it.
    first = count + np.arange(len(starts))
    rows = np.zeros((count + len(starts), width), np.uint32)
    rows[:count, :-2] = states.moves * width
    rows[first, :-2] = np.where(_blanks(states, starts), first[:, None], states.moves[starts])
    rows[first, :-2] *= width
    rows[:count, -2] = states.label
    depends = np.flatnonzero(states.ahead.any(axis=1))
    rows[depends, -1] = np.arange(1, len(depends) + 1)
    ahead = np.concatenate([np.zeros((1, len(sample) + 1), np.intp), states.ahead[depends]])
    return Lexers(
        classes=classes,
        moves=rows.reshape(-1),
        ahead=ahead.astype(np.uint16).reshape(-1),
        starts=(first * width).astype(np.uint32),
    )


def _combined(
    orders: Sequence[Sequence[Unit]],
    automata: dict[str, Automaton],
    labels: dict[str, int],
    sample: NDArray[np.intp],
) -> tuple[_States, NDArray[np.intp]]:
    """Run the automata of each lexer in parallel. Return the states, and each lexer's first state.

    orders: the terminals of each lexer, in the order in which Lark tries them. labels: the label of
    each terminal. sample: one byte of each class.
    """
    moves_of = {name: one.moves[:, sample].tolist() for name, one in automata.items()}
    found: dict[_State, int] = {_NO_MATCH: 0}
    todo = [_NO_MATCH]

    def number(state: _State) -> int:
        if state not in found:
            found[state] = len(todo)
            todo.append(state)
        return found[state]

    def moved(unit: Unit, at: tuple[int, ...], byte: int) -> tuple[int, ...]:
        names = (unit.terminal, *unit.embedded)
        return tuple(
            here if here == DEAD else moves_of[name][here][byte]
            for name, here in zip(names, at, strict=True)
        )

    starts = [
        number(tuple((unit, (0,) * (1 + len(unit.embedded))) for unit in order)) for order in orders
    ]
    moves, labels_of, ahead = [], [], []
    for state in todo:
        label, by_class, kept = _accepted(state, automata, labels, sample)
        row = []
        for byte, count in enumerate(kept.tolist()[:-1]):
            after = [(unit, moved(unit, at, byte)) for unit, at in state[:count]]
            row.append(number(tuple((unit, at) for unit, at in after if at[0] != DEAD)))
        is_plain = bool((by_class == label).all())
        moves.append(row)
        labels_of.append(label if is_plain else NOTHING)
        ahead.append(np.zeros_like(by_class) if is_plain else by_class)
    states = _States(np.array(moves), np.array(labels_of), np.stack(ahead))
    return states, np.array(starts)


def _accepted(
    state: _State, automata: dict[str, Automaton], labels: dict[str, int], sample: NDArray[np.intp]
) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
    """Return what a lexer finds in a state: the label at the end of the text, and two arrays.

    Both arrays have an element for each class of the next byte, and an element for the end of the
    text. The first array has the label of the token that ends before this byte. The second array
    has the number of units that can still match after this byte: the units up to the first unit
    that accepts.

    automata: the automaton of each terminal. labels: the label of each terminal. sample: one byte
    of each class.
    """
    symbols = [*sample, END]
    by_class = np.full(len(symbols), NOTHING)
    kept = np.full(len(symbols), len(state))
    for count, (unit, at) in enumerate(state, 1):
        machine = automata[unit.terminal]
        accepts = machine.final[at[0], symbols]
        if not accepts.any():
            continue
        name = unit.terminal
        for string, here in zip(unit.embedded, at[1:], strict=True):
            if here != DEAD and automata[string].final[here, END]:
                name = string
                break
        hit = (by_class == NOTHING) & accepts
        by_class[hit] = labels[name]
        kept[hit] = count
        if accepts.all():
            break
    return int(by_class[-1]), by_class, kept


def _minimal(states: _States, starts: NDArray[np.intp]) -> tuple[_States, NDArray[np.intp]]:
    """Merge equivalent states, of which the lexers of a grammar have many.

    starts: the first state of each lexer. Returns the states that are left, and `starts` with the
    new numbers of these states.
    """
    keys, count = np.column_stack([states.label, states.ahead]), 0
    while True:
        # State 0 has the smallest key, so it stays the first.
        _, sample, parts = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        parts = parts.reshape(-1)
        if len(sample) == count:
            break
        count = len(sample)
        keys = np.column_stack([parts, parts[states.moves]])
    moves = parts[states.moves[sample]]
    return _States(moves, states.label[sample], states.ahead[sample]), parts[starts]


def _blanks(states: _States, starts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which bytes a lexer can skip at the start of a token: bool[lexers, classes].

    Such a byte is an ignored token by itself, and the bytes after it are lexed in the same way
    without it. Both are true if, after the byte and each possible next byte, the automaton is
    either dead, or inside an ignored token and in the state that the next byte alone would reach
    from the start.
    """
    inside = np.isin(states.label, (NOTHING, IGNORED))
    inside &= np.isin(states.ahead, (NOTHING, IGNORED)).all(axis=1)
    while (kept := inside & inside[states.moves].all(axis=1)).sum() < inside.sum():
        inside = kept
    after = states.moves[starts]  # [lexers, classes]
    then, afresh = states.moves[after], states.moves[starts][:, None]
    same = (then == 0) | ((then == afresh) & inside[then])
    blanks: NDArray[np.bool_] = (states.label[after] == IGNORED) & same.all(axis=2)
    return blanks
