"""The lexers of a grammar as one table: what can stand in each parser state, and blanks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from lark.lexer import TerminalDef
from numpy.typing import NDArray

from exset.parsers.engine.automata import DEAD, Combined, automaton, byte_classes, combine, units
from exset.parsers.engine.tables import IGNORED, NOTHING, TERMINALS


class Lexers(NamedTuple):
    """What `Tables` says of them; starts: the row in which each lexer starts."""

    classes: NDArray[np.uint8]
    moves: NDArray[np.uint32]
    ahead: NDArray[np.uint16]
    starts: NDArray[np.uint32]


class _States(NamedTuple):
    """States of all lexers; state 0 is dead.

    moves: int[states, classes]. code: int[states]; ahead: int[states, classes], by the byte after.
    """

    moves: NDArray[np.intp]
    code: NDArray[np.intp]
    ahead: NDArray[np.intp]


def lexers(
    patterns: Mapping[str, TerminalDef],
    numbers: dict[str, int],
    ignored: frozenset[str],
    accepted: Sequence[frozenset[str]],
) -> Lexers:
    """The table for lexers that accept these sets of terminals, and ignore those of them."""
    automata = {name: automaton(pattern) for name, pattern in patterns.items()}
    classes, sample = byte_classes(list(automata.values()))
    codes = np.zeros(len(numbers) + 1, np.intp)  # the last is that of none, -1
    for name in patterns:
        codes[numbers[name]] = IGNORED if name in ignored else numbers[name] + TERMINALS
    made = [
        combine(units([patterns[name] for name in allowed]), automata, numbers, sample)
        for allowed in accepted
    ]
    states, starts = _minimal(*_joined(made, codes))
    width = len(sample) + 2
    # A copy of the state for each start, in which blanks go round.
    first = len(states.moves) + np.arange(len(starts))
    rows = np.zeros((len(states.moves) + len(starts), width), np.uint32)
    rows[: len(states.moves), :-2] = states.moves * width
    rows[first, :-2] = np.where(_blanks(states, starts), first[:, None], states.moves[starts])
    rows[first, :-2] *= width
    rows[: len(states.moves), -2] = states.code
    depends = np.flatnonzero(states.ahead.any(axis=1))
    rows[depends, -1] = np.arange(1, len(depends) + 1)
    ahead = np.concatenate([np.zeros((1, len(sample)), np.intp), states.ahead[depends]])
    return Lexers(
        classes=classes,
        moves=rows.reshape(-1),
        ahead=ahead.astype(np.uint16).reshape(-1),
        starts=(first * width).astype(np.uint32),
    )


def _joined(made: list[Combined], codes: NDArray[np.intp]) -> tuple[_States, NDArray[np.intp]]:
    """The states of all lexers, and where each starts."""
    count = made[0].moves.shape[1]
    bases = np.cumsum([1, *(len(one.moves) for one in made)])
    moves, code = [np.zeros((1, count), np.intp)], [np.zeros(1, np.intp)]
    ahead = [np.zeros((1, count), np.intp)]
    for one, base in zip(made, bases.tolist(), strict=False):
        moves.append(np.where(one.moves == DEAD, 0, one.moves + base))
        code.append(codes[one.accept])
        ahead.append(np.where(one.accept[:, None] < 0, codes[one.ahead], NOTHING))
    states = _States(np.concatenate(moves), np.concatenate(code), np.concatenate(ahead))
    return states, bases[:-1]


def _minimal(states: _States, starts: NDArray[np.intp]) -> tuple[_States, NDArray[np.intp]]:
    """One state for all that cannot be told apart: they are the same in many lexers."""
    told = np.column_stack([states.code, states.ahead])
    parts, count = np.zeros(len(told), np.intp), 0
    while True:
        _, sample, parts = np.unique(told, axis=0, return_index=True, return_inverse=True)
        parts = parts.reshape(-1)
        if len(sample) == count:
            break
        count = len(sample)
        told = np.column_stack([parts, parts[states.moves]])
    # The dead state is to be 0 again.
    order = np.argsort(np.where(np.arange(count) == parts[0], -1, sample))
    number = np.argsort(order)
    sample, parts = sample[order], number[parts]
    moves = parts[states.moves[sample]]
    return _States(moves, states.code[sample], states.ahead[sample]), parts[starts]


def _blanks(states: _States, starts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """bool[lexers, classes]: the bytes that can be left out where a token starts.

    Each is all of an ignored token, and what follows is lexed the same with it or without it:
    after it the automaton is dead, or where it would be from the start, in an ignored token.
    """
    inside = np.isin(states.code, (NOTHING, IGNORED))
    inside &= np.isin(states.ahead, (NOTHING, IGNORED)).all(axis=1)
    while (kept := inside & inside[states.moves].all(axis=1)).sum() < inside.sum():
        inside = kept
    after = states.moves[starts]  # [lexers, classes], then what is after that
    then, afresh = states.moves[after], states.moves[starts][:, None]
    same = (then == 0) | ((then == afresh) & inside[then])
    blanks: NDArray[np.bool_] = (states.code[after] == IGNORED) & same.all(axis=2)
    return blanks
