"""Compile a regular expression to an automaton over bytes, with the same matches as Python's `re`.

The automaton keeps the order in which `re` tries the alternatives. So lazy quantifiers, and
alternatives of different lengths, match as in Python. At each position, the automaton knows one
byte before and one byte after. This is enough for word boundaries, and for lookahead and lookbehind
of one character.
"""

import importlib
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

DEAD: Final = -1
"""The state of an automaton that cannot match any more."""

END: Final = 256
"""The symbol after the last byte of a text."""

_BYTES: Final = (1 << 256) - 1
_ALL: Final = (1 << 257) - 1
_MOST_NODES: Final = 20_000
_MOST_STATES: Final = 5_000
_ANCHOR: Final = ("an anchor", "leave it out, or match the line break")
_AROUND: Final = (
    "a lookaround of more than one character",
    "write the terminal with the text of the lookaround, or, to exclude this text, match the longer"
    " text with another terminal of higher priority, such as KEYWORD.1",
)
_GROUP: Final = ("a back-reference", "write a terminal for each text that it can repeat, or rules")
_BEFORE: Final = ("a lookbehind or a word boundary", "write the terminal without it")
_LARGE: Final = ("an expression that is too large", "write a part of it as a rule")
_REFUSED: Final = {
    "AT": _ANCHOR,
    "ASSERT": _AROUND,
    "ASSERT_NOT": _AROUND,
    "GROUPREF": _GROUP,
    "GROUPREF_EXISTS": _GROUP,
    "POSSESSIVE_REPEAT": ("a possessive quantifier", "write a plain quantifier, such as a*"),
    "ATOMIC_GROUP": ("an atomic group", "write a plain group, (?:...)"),
}


class NotRegularError(ValueError):
    """Raised for an expression that no automaton can run.

    what: the part of the expression that prevents it. advice: what to write instead of this part.
    """

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what, advice)
        self.what = what
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.what}; {self.advice}"


class Automaton(NamedTuple):
    """The automaton of one terminal; it starts in state 0.

    moves: int32[states, 256], the next state for each byte; DEAD if nothing can match any more.
    final: bool[states, 257], whether the match may end in the state, for each byte that may follow;
    the last column is for the end of the text.
    """

    moves: NDArray[np.int32]
    final: NDArray[np.bool_]


class _Node(NamedTuple):
    """A node of the expression. A set of symbols is an integer with a bit for each symbol in the
    set.

    A node with `bytes` matches one of these bytes. A node with `before` and `after` matches the
    position between a symbol of the set `before` and a symbol of the set `after`. Other nodes lead
    to all nodes in `then`, in the order in which `re` tries them. A node that leads nowhere is the
    end.
    """

    then: tuple[int, ...]
    bytes: int = 0
    before: int = 0
    after: int = 0


def compile_expression(pattern: str) -> Automaton:
    """Return the automaton of a regular expression.

    Raises NotRegularError if no automaton can run it.
    """
    parsed = importlib.import_module("re._parser").parse(pattern.encode("latin-1"))
    builder = _Builder()
    start = builder.sequence(parsed, parsed.state.flags, builder.add(_Node(())))
    return _Subsets(builder.nodes, start).automaton()


@dataclass
class _Builder:
    """Makes the nodes of a parsed expression, from its end to its start. `re` has parsed the
    expression.
    """

    nodes: list[_Node] = field(default_factory=list)

    def add(self, node: _Node) -> int:
        """Add a node, and return its number."""
        if len(self.nodes) == _MOST_NODES:
            raise NotRegularError(*_LARGE)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def sequence(self, items: Any, flags: int, then: int) -> int:
        """Add the nodes for consecutive items of the expression; return the first of these nodes.

        items: the items, as `re` parsed them. flags: the flags of the expression. then: the node
        after the items.
        """
        for operation, argument in reversed(list(items)):
            then = self._item(str(operation), argument, flags, then)
        return then

    def _item(self, name: str, argument: Any, flags: int, then: int) -> int:
        if (found := _set_of(name, argument, flags)) is not None:
            return self.add(_Node((then,), bytes=found))
        if name == "SUBPATTERN":
            _, added, removed, inner = argument
            return self.sequence(inner, (flags | added) & ~removed, then)
        if name == "BRANCH":
            starts = (self.sequence(each, flags, then) for each in argument[1])
            return self.add(_Node(tuple(starts)))
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = argument
            return self._repeat(least, most, inner, flags, then, lazy=name == "MIN_REPEAT")
        tests = _tests_of(name, argument, flags)
        if not tests:
            unknown = f"{name.lower()}, which is unknown", "leave it out"
            raise NotRegularError(*_REFUSED.get(name, unknown))
        between = (self.add(_Node((then,), before=a, after=b)) for a, b in tests)
        return self.add(_Node(tuple(between)))

    def _repeat(
        self, least: int, most: Any, inner: Any, flags: int, then: int, *, lazy: bool
    ) -> int:
        if most == importlib.import_module("re._constants").MAXREPEAT:
            loop = self.add(_Node(()))
            start = self.sequence(inner, flags, loop)
            self.nodes[loop] = _Node((then, start) if lazy else (start, then))
            then = loop
        else:
            rest = then
            for _ in range(int(most) - least):
                start = self.sequence(inner, flags, rest)
                rest = self.add(_Node((then, start) if lazy else (start, then)))
            then = rest
        for _ in range(least):
            then = self.sequence(inner, flags, then)
        return then


def _set_of(name: str, argument: Any, flags: int) -> int | None:
    """Return the set of bytes that an item of an expression matches.

    Returns None if the item does not match exactly one character. name, argument: the item, as `re`
    parsed it.
    """
    if name == "ANY":
        return _BYTES if flags & re.DOTALL else _BYTES & ~(1 << 10)
    items = argument if name == "IN" else [(name, argument)]
    kinds = {"LITERAL", "NOT_LITERAL", "RANGE", "CATEGORY", "NEGATE"}
    if any(str(kind) not in kinds for kind, _ in items):
        return None
    found, negated = 0, False
    for kind, value in items:
        match str(kind):
            case "LITERAL" | "NOT_LITERAL":
                found |= 1 << value
                negated ^= str(kind) == "NOT_LITERAL"
            case "RANGE":
                found |= sum(1 << each for each in range(value[0], value[1] + 1))
            case "CATEGORY":
                found |= _category(str(value))
            case _:
                negated = True
    if flags & re.IGNORECASE:
        for upper, lower in zip(range(65, 91), range(97, 123), strict=True):
            if found >> upper & 1 or found >> lower & 1:
                found |= 1 << upper | 1 << lower
    return _BYTES & ~found if negated else found


def _category(name: str) -> int:
    r"""Return the set of bytes in a class of characters, such as `\d`. name: the name of the class
    in `re`.
    """
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.rpartition("_")[2]]
    one = re.compile(f"\\{letter}".encode())
    found = sum(1 << each for each in range(256) if one.match(bytes([each])))
    return _BYTES & ~found if "_NOT_" in name else found


def _tests_of(name: str, argument: Any, flags: int) -> list[tuple[int, int]]:
    r"""Return where an item without width, such as `\b`, matches, as pairs of sets of symbols.

    For a pair (before, after), the item matches between a symbol of `before` and a symbol of
    `after`. The result is empty for an unknown item. name, argument: the item, as `re` parsed it.
    """
    word = _category("WORD")
    other = _ALL & ~word
    if name == "AT":
        tests = {
            "AT_BOUNDARY": [(word, other), (other, word)],
            "AT_NON_BOUNDARY": [(word, word), (other, other)],
            "AT_END_STRING": [(_ALL, 1 << END)],
        }
        if str(argument) == "AT_END" and flags & re.MULTILINE:
            return [(_ALL, 1 << END | 1 << 10)]
        return tests.get(str(argument), [])
    if name not in ("ASSERT", "ASSERT_NOT"):
        return []
    direction, inner = argument
    found = _one(inner, flags)
    if found is None:
        return []
    found = _ALL & ~found if name == "ASSERT_NOT" else found
    return [(_ALL, found)] if direction > 0 else [(found, _ALL)]


def _one(items: Any, flags: int) -> int | None:
    """Return the set of bytes that a parsed expression matches, as bits.

    Return None if the expression does not match exactly one character. flags: the flags of `re`
    that apply.
    """
    if len(items) != 1:
        return None
    name, argument = str(items[0][0]), items[0][1]
    if name == "SUBPATTERN":
        return _one(argument[3], (flags | argument[1]) & ~argument[2])
    if name == "BRANCH":
        parts = [_one(each, flags) for each in argument[1]]
        known = [each for each in parts if each is not None]
        return None if len(known) < len(parts) else _union(known)
    return _set_of(name, argument, flags)


def _union(sets: list[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found


_State = tuple[tuple[int, ...], int | None]
"""Nodes in the order of `re`, and the class of the byte before them if it matters."""


class _Subsets:
    """Makes the states of the automaton; a state is a set of nodes that are reached together."""

    def __init__(self, nodes: list[_Node], start: int) -> None:
        self.nodes = nodes
        self.start = start
        tests = [node for node in nodes if node.before]
        self.looks_back = any(node.before != _ALL for node in tests)
        self.looks_ahead = any(node.after != _ALL for node in tests)
        sets = {node.bytes for node in nodes} | {node.after for node in tests}
        keys: dict[tuple[int, ...], int] = {}
        sets |= {node.before for node in tests}
        columns = sorted(sets)
        signatures = [tuple(each >> symbol & 1 for each in columns) for symbol in range(END)]
        self.classes = [keys.setdefault(each, len(keys)) for each in signatures]
        self.samples = [self.classes.index(number) for number in range(len(keys))]

    def automaton(self) -> Automaton:
        """Return the automaton. Raises NotRegularError if it is too large."""
        first: _State = ((self.start,), None)
        found: dict[_State, int] = {first: 0}
        todo, moves, finals = [first], list[list[int]](), list[list[bool]]()
        for state in todo:
            row, final = list[int](), list[bool]()
            shared = None if self.looks_ahead else self._reached(state, None)
            for number, sample in enumerate(self.samples):
                nodes, is_match = self._reached(state, sample) if shared is None else shared
                final.append(is_match)
                reached = (self.nodes[each] for each in nodes)
                after = [node.then[0] for node in reached if node.bytes >> sample & 1]
                if not after:
                    row.append(DEAD)
                    continue
                target: _State = (tuple(dict.fromkeys(after)), number if self.looks_back else None)
                if target not in found:
                    found[target] = len(todo)
                    todo.append(target)
                    if len(todo) > _MOST_STATES:
                        raise NotRegularError(*_LARGE)
                row.append(found[target])
            final.append((self._reached(state, END) if shared is None else shared)[1])
            moves.append(row)
            finals.append(final)
        return _trimmed(np.array(moves, np.int32), np.array(finals), np.array(self.classes))

    def _reached(self, state: _State, after: int | None) -> tuple[list[int], bool]:
        """Return the nodes with `bytes` that a state reaches, in order, and whether it reaches the
        end.

        after: the next symbol, because some nodes depend on it. The result leaves out the nodes
        that come after the end in this order.
        """
        nodes, before = state
        found, seen = list[int](), set[int]()
        stack = list(reversed(nodes))
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            node = self.nodes[number]
            if node.bytes:
                found.append(number)
            elif node.before:
                if self._passes(node, before, after):
                    stack += reversed(node.then)
            elif node.then:
                stack += reversed(node.then)
            else:
                return found, True
        return found, False

    def _passes(self, node: _Node, before: int | None, after: int | None) -> bool:
        if node.before != _ALL:
            if before is None:
                raise NotRegularError(*_BEFORE)
            if not node.before >> self.samples[before] & 1:
                return False
        return node.after == _ALL or (after is not None and bool(node.after >> after & 1))


def _trimmed(
    moves: NDArray[np.int32], final: NDArray[np.bool_], classes: NDArray[np.int_]
) -> Automaton:
    """Return the automaton without the moves to states from which nothing can match.

    moves: int32[states, classes]. classes: the class of each byte, which is the byte's column in
    `moves`.
    """
    live: NDArray[np.bool_] = np.any(final, axis=1)
    while (more := live | (live[moves] & (moves != DEAD)).any(axis=1)).sum() > live.sum():
        live = more
    moves = np.where((moves == DEAD) | ~live[moves], DEAD, moves).astype(np.int32)
    return Automaton(moves[:, classes], final[:, [*classes, -1]])
