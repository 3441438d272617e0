"""Terminals as automata over bytes, combined as Lark's contextual lexer combines them.

The first terminal in Lark's order that matches wins, with its own longest match. A string terminal
replaces another terminal that matches exactly its text (`lark.lexer._create_unless`). A terminal
may end in a lookahead of one character; it then accepts on the byte that follows.
"""

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from interegular import parse_pattern
from interegular.fsm import anything_else
from lark.lexer import TerminalDef
from numpy.typing import NDArray

DEAD: Final = -1

_LOOKAHEAD: Final = re.compile(r"(?s)(.+)\(\?=(\[(?:\\.|[^\]\\])+\]|\\.|[^\\()])\)")
# Constructs that interegular silently misreads, or that no automaton can run.
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
    """A terminal's own automaton, from state 0.

    moves: int32[states, 256], DEAD for no match. final: bool[states]. before: bool[256], the bytes
    that may follow; None if any byte may, or the end.
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
    machine = parse_pattern(pattern).to_fsm()
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
    parser = importlib.import_module("re._parser")
    found = {str(op) for op in _operations(parser.parse(pattern.encode("latin-1")))}
    for operation in sorted(found & _REFUSED.keys()):
        raise ValueError(f"terminal {name} has {_REFUSED[operation]}: {pattern}")


def _operations(parsed: object) -> set[object]:
    found: set[object] = set()
    todo: list[object] = [parsed]
    while todo:
        item = todo.pop()
        if isinstance(item, list | tuple):
            if isinstance(item, tuple) and item and type(item[0]).__name__ == "_NamedIntConstant":
                found.add(item[0])
            todo.extend(item)
        elif hasattr(item, "data"):
            todo.append(item.data)
    return found


class Unit(NamedTuple):
    """A terminal, and the string terminals that replace it if they equal its match."""

    terminal: str
    embedded: tuple[str, ...]


def units(terminals: Sequence[TerminalDef]) -> list[Unit]:
    """Return the terminals of a lexer in the order in which Lark tries them."""
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


class Combined(NamedTuple):
    """The automaton of a lexer, from state 0.

    moves: int32[states, classes], DEAD for no match. accept: int32[states], the number of the
    terminal that is accepted before any byte, or -1. ahead: int32[states, classes], the number of
    the terminal that is accepted before a byte of the class.
    """

    moves: NDArray[np.int32]
    accept: NDArray[np.int32]
    ahead: NDArray[np.int32]


def combine(
    order: Sequence[Unit],
    automata: dict[str, Automaton],
    numbers: dict[str, int],
    sample: NDArray[np.intp],
) -> Combined:
    """Return the automaton of a lexer. `sample` has one byte of each class of bytes."""
    moves_of = {name: machine.moves[:, sample] for name, machine in automata.items()}
    names = [name for unit in order for name in (unit.terminal, *unit.embedded)]
    start = tuple(0 for _ in names)
    states = {start: 0}
    todo = [start]
    moves, accept, ahead = [], [], []
    for state in todo:
        at = dict(zip(names, state, strict=True))
        row = np.full(len(sample), -1, np.int32)
        label = -1
        # How many components continue, for each class of bytes: all until a unit accepts.
        kept = np.full(len(sample), len(names))
        position = 0
        for unit in order:
            position += 1 + len(unit.embedded)
            machine, here = automata[unit.terminal], at[unit.terminal]
            if here == DEAD or not machine.final[here]:
                continue
            number = numbers[_label(unit, at, automata)]
            if machine.before is None:
                label = number
                kept = np.minimum(kept, position)
                break
            hit = machine.before[sample] & (row < 0)
            row[hit] = number
            kept[hit] = np.minimum(kept[hit], position)
        if label >= 0:
            row[row < 0] = label
        targets = np.full((len(names), len(sample)), DEAD, np.int32)
        for component, (name, here) in enumerate(zip(names, state, strict=True)):
            if here != DEAD:
                targets[component] = moves_of[name][here]
        targets[np.arange(len(names))[:, None] >= kept[None, :]] = DEAD
        line = np.full(len(sample), DEAD, np.int32)
        for column in range(len(sample)):
            target = tuple(targets[:, column].tolist())
            if any(part != DEAD for part in target):
                if target not in states:
                    states[target] = len(states)
                    todo.append(target)
                line[column] = states[target]
        moves.append(line)
        accept.append(label if not (row != label).any() else -1)
        ahead.append(row)
    return Combined(np.stack(moves), np.array(accept, np.int32), np.stack(ahead))


def _label(unit: Unit, at: dict[str, int], automata: dict[str, Automaton]) -> str:
    for name in unit.embedded:
        if at[name] != DEAD and automata[name].final[at[name]]:
            return name
    return unit.terminal


def byte_classes(automata: Sequence[Automaton]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Return the class of each byte, and one byte of each class.

    All automata treat the bytes of a class in the same way.
    """
    tables = [machine.moves for machine in automata]
    tables += [m.before[None].astype(np.int32) for m in automata if m.before is not None]
    _, sample, classes = np.unique(
        np.concatenate(tables), axis=1, return_index=True, return_inverse=True
    )
    return classes.reshape(256).astype(np.uint8), sample
