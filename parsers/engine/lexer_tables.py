"""The lexers of a grammar as one table: one lexer for each set of terminals."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from lark.lexer import TerminalDef
from numpy.typing import NDArray

from exset.parsers.engine.automata import DEAD, Combined, automaton, byte_classes, combine, units
from exset.parsers.engine.tables import IGNORED, NOTHING, TERMINALS


class Lexers(NamedTuple):
    """The arrays of `Tables`; starts: the row in which each lexer starts."""

    classes: NDArray[np.uint8]
    moves: NDArray[np.uint32]
    ahead: NDArray[np.uint16]
    starts: NDArray[np.uint32]


class _States(NamedTuple):
    """States of all lexers; state 0 is dead.

    moves: int[states, classes]. label: int[states]. ahead: int[states, classes], the label by the
    next byte.
    """

    moves: NDArray[np.intp]
    label: NDArray[np.intp]
    ahead: NDArray[np.intp]


def lexers(
    patterns: Mapping[str, TerminalDef],
    numbers: dict[str, int],
    ignored: frozenset[str],
    accepted: Sequence[frozenset[str]],
) -> Lexers:
    """Return the table of lexers, one for each set of accepted terminals."""
    automata = {name: automaton(pattern) for name, pattern in patterns.items()}
    classes, sample = byte_classes(list(automata.values()))
    labels = np.zeros(len(numbers) + 1, np.intp)  # the last is for no terminal, -1
    for name in patterns:
        labels[numbers[name]] = IGNORED if name in ignored else numbers[name] + TERMINALS
    made = [
        combine(units([patterns[name] for name in allowed]), automata, numbers, sample)
        for allowed in accepted
    ]
    states, starts = _minimal(*_joined(made, labels))
    width = len(sample) + 2
    # Each lexer starts in a copy of its first state, in which blanks loop.
    first = len(states.moves) + np.arange(len(starts))
    rows = np.zeros((len(states.moves) + len(starts), width), np.uint32)
    rows[: len(states.moves), :-2] = states.moves * width
    rows[first, :-2] = np.where(_blanks(states, starts), first[:, None], states.moves[starts])
    rows[first, :-2] *= width
    rows[: len(states.moves), -2] = states.label
    depends = np.flatnonzero(states.ahead.any(axis=1))
    rows[depends, -1] = np.arange(1, len(depends) + 1)
    ahead = np.concatenate([np.zeros((1, len(sample)), np.intp), states.ahead[depends]])
    return Lexers(
        classes=classes,
        moves=rows.reshape(-1),
        ahead=ahead.astype(np.uint16).reshape(-1),
        starts=(first * width).astype(np.uint32),
    )


def _joined(made: list[Combined], labels: NDArray[np.intp]) -> tuple[_States, NDArray[np.intp]]:
    """Return the states of all lexers, and where each starts."""
    count = made[0].moves.shape[1]
    bases = np.cumsum([1, *(len(one.moves) for one in made)])
    moves, label = [np.zeros((1, count), np.intp)], [np.zeros(1, np.intp)]
    ahead = [np.zeros((1, count), np.intp)]
    for one, base in zip(made, bases.tolist(), strict=False):
        moves.append(np.where(one.moves == DEAD, 0, one.moves + base))
        label.append(labels[one.accept])
        ahead.append(np.where(one.accept[:, None] < 0, labels[one.ahead], NOTHING))
    states = _States(np.concatenate(moves), np.concatenate(label), np.concatenate(ahead))
    return states, bases[:-1]


def _minimal(states: _States, starts: NDArray[np.intp]) -> tuple[_States, NDArray[np.intp]]:
    """Merge equivalent states: many lexers share them."""
    keys = np.column_stack([states.label, states.ahead])
    parts, count = np.zeros(len(keys), np.intp), 0
    while True:
        _, sample, parts = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        parts = parts.reshape(-1)
        if len(sample) == count:
            break
        count = len(sample)
        keys = np.column_stack([parts, parts[states.moves]])
    # The dead state becomes 0 again.
    order = np.argsort(np.where(np.arange(count) == parts[0], -1, sample))
    number = np.argsort(order)
    sample, parts = sample[order], number[parts]
    moves = parts[states.moves[sample]]
    return _States(moves, states.label[sample], states.ahead[sample]), parts[starts]


def _blanks(states: _States, starts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which bytes can be skipped where a token starts: bool[lexers, classes].

    Such a byte is a whole ignored token, and the bytes after it are lexed in the same way with it
    or without it: the automaton is then dead, or in the state that it would reach from the start,
    inside an ignored token.
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
