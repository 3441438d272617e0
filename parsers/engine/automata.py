"""Compile terminals to automata over bytes, and find the order in which Lark's lexers try them.

A terminal may end in a lookahead of one character: the next byte then decides about acceptance.
"""

import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from interegular import InvalidSyntax, Unsupported, parse_pattern
from interegular.fsm import anything_else
from lark.lexer import TerminalDef
from numpy.typing import NDArray

DEAD: Final = -1
"""The state of an automaton that cannot match any more."""

_LOOKAHEAD: Final = re.compile(r"(?s)(.+)\(\?=(\[(?:\\.|[^\]\\])+\]|\\.|[^\\()])\)")
# Constructs that interegular reads wrongly without an error, or that no automaton can run.
_REFUSED: Final = {
    "AT": "an anchor",
    "ASSERT": "a lookaround other than a lookahead of one character at the end",
    "ASSERT_NOT": "a negative lookaround",
    "GROUPREF": "a back-reference",
    "GROUPREF_EXISTS": "a back-reference",
    "MIN_REPEAT": "a lazy quantifier",
    "POSSESSIVE_REPEAT": "a possessive quantifier",
    "ATOMIC_GROUP": "an atomic group",
}


@dataclass(frozen=True)
class Automaton:
    """The automaton of one terminal; it starts in state 0.

    moves: int32[states, 256], DEAD for no match. final: bool[states]. before: bool[256], the bytes
    that may follow; None if any byte, or the end of the text, may follow.
    """

    moves: NDArray[np.int32]
    final: NDArray[np.bool_]
    before: NDArray[np.bool_] | None


def automaton(terminal: TerminalDef) -> Automaton:
    """Return the automaton of a terminal. Raises ValueError if it is not regular."""
    pattern = terminal.pattern.to_regexp()
    before = None
    if terminal.pattern.type == "re" and (ahead := _LOOKAHEAD.fullmatch(pattern)):
        pattern = ahead[1]
        one = re.compile(ahead[2].encode("ascii"), re.DOTALL)
        before = np.array([one.fullmatch(bytes([byte])) is not None for byte in range(256)])
    _check(terminal.name, pattern)
    try:
        machine = parse_pattern(pattern).to_fsm()
    except (InvalidSyntax, Unsupported) as error:
        raise ValueError(f"terminal {terminal.name}: {error}: {pattern}") from None
    states = [machine.initial, *sorted(machine.states - {machine.initial})]
    numbers = {state: number for number, state in enumerate(states)}
    live = {state for state in states if machine.islive(state)}  # type: ignore[no-untyped-call]
    moves = np.full((len(states), 256), DEAD, np.int32)
    symbols = [
        machine.alphabet[char if (char := chr(byte)) in machine.alphabet else anything_else]
        for byte in range(256)
    ]
    for state, moved in machine.map.items():
        for byte, symbol in enumerate(symbols):
            target = moved.get(symbol)
            if target in live:
                moves[numbers[state], byte] = numbers[target]
    final = np.array([state in machine.finals for state in states])
    return Automaton(moves, final, before)


def _check(name: str, pattern: str) -> None:
    parsed = importlib.import_module("re._parser").parse(pattern.encode("latin-1"))
    # In the repr of a parsed expression characters are numbers, so each word is an operation.
    found = set(re.findall("[A-Z_]+", repr(parsed)))
    for operation in sorted(found & _REFUSED.keys()):
        raise ValueError(f"terminal {name} has {_REFUSED[operation]}: {pattern}")


class Unit(NamedTuple):
    """A terminal, and the string terminals that replace it if its match is their text."""

    terminal: str
    embedded: tuple[str, ...]


def units(terminals: Sequence[TerminalDef]) -> list[Unit]:
    """Return the terminals of a lexer in the order in which Lark tries them.

    A string terminal replaces another terminal if this matches exactly the string
    (`lark.lexer._create_unless`).
    """
    ordered = sorted(
        terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name)
    )
    strings = [t for t in ordered if t.pattern.type == "str"]
    embedded: dict[str, list[str]] = {}
    inside: set[str] = set()
    for terminal in ordered:
        if terminal.pattern.type == "str":
            continue
        pattern = re.compile(terminal.pattern.to_regexp().encode("latin-1"))
        for string in strings:
            match = pattern.match(value := string.pattern.value.encode("latin-1"))
            if string.priority == terminal.priority and match and match.group() == value:
                embedded.setdefault(terminal.name, []).append(string.name)
                if set(string.pattern.flags) <= set(terminal.pattern.flags):
                    inside.add(string.name)
    return [Unit(t.name, tuple(embedded.get(t.name, ()))) for t in ordered if t.name not in inside]


def byte_classes(automata: Iterable[Automaton]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Group bytes that no automaton distinguishes.

    Return the class of each byte, and one byte of each class.
    """
    tables = [table for one in automata for table in (one.moves, one.before) if table is not None]
    _, sample, classes = np.unique(
        np.vstack(tables), axis=1, return_index=True, return_inverse=True
    )
    return classes.reshape(256).astype(np.uint8), sample
