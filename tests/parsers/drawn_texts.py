"""Draw texts of a grammar, half of them damaged, and compare exset with Lark on them."""

import random
from collections.abc import Iterator, Sequence
from functools import cached_property

from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.grammar import Rule, Symbol

from exset import FormatError
from exset.parsers.custom.grammar import Grammar
from exset.parsers.engine.expressions import DEAD, END, compile_expression
from tests.parsers.trees import of_columns, of_lark

_DEEP = 12
_PRINTABLE = [10, *range(32, 127)]


class Drawing:
    """Draws texts by the rules of a grammar, and tokens by the automata of its terminals."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self.lark: Lark = grammar.tables.lark
        self.start = grammar.start
        self.random = random.Random(seed)
        self.automata = {
            each.name: compile_expression(each.pattern.to_regexp()) for each in self.lark.terminals
        }
        self.blanks = [None, *(name for name in self.lark.ignore_tokens)]

    def texts(self, count: int) -> Iterator[str]:
        """Yield texts; each second one is damaged."""
        for number in range(count):
            tokens = [self._token(name) for name in self._names(self.start, 0)]
            text = "".join(token + self._blank() for token in tokens)
            yield self._damaged(text) if number % 2 else text

    @cached_property
    def rules(self) -> dict[str, list[Rule]]:
        """The rules of each nonterminal, except those with terminals that match nothing."""
        found: dict[str, list[Rule]] = {}
        for rule in self.lark.rules:
            if all(not each.is_term or each.name in self.automata for each in rule.expansion):
                found.setdefault(rule.origin.name, []).append(rule)
        return found

    @cached_property
    def depths(self) -> dict[str, int]:
        """How many rules a text of each nonterminal needs, one in the other."""
        found: dict[str, int] = {}
        while len(found) < len(self.rules):
            for name, rules in self.rules.items():
                known = [self._depth(each.expansion, found) for each in rules]
                least = min((each for each in known if each is not None), default=None)
                if least is not None and name not in found:
                    found[name] = least + 1
        return found

    def _depth(self, symbols: Sequence[Symbol], depths: dict[str, int]) -> int | None:
        inner = [0 if each.is_term else depths.get(each.name) for each in symbols]
        known = [each for each in inner if each is not None]
        return None if len(known) < len(inner) else max(known, default=0)

    def _names(self, name: str, depth: int) -> Iterator[str]:
        """Yield the terminals of a random derivation."""
        rules = self.rules[name]
        if depth > _DEEP:
            least = min(self._depth(each.expansion, self.depths) or 0 for each in rules)
            rules = [e for e in rules if (self._depth(e.expansion, self.depths) or 0) == least]
        for symbol in self.random.choice(rules).expansion:
            if symbol.is_term:
                yield symbol.name
            else:
                yield from self._names(symbol.name, depth + 1)

    def _token(self, name: str) -> str:
        """Walk through the automaton of a terminal until it accepts."""
        automaton, state, token = self.automata[name], 0, ""
        while len(token) < 200:
            moves = [byte for byte in _PRINTABLE if automaton.moves[state, byte] != DEAD]
            is_final = bool(automaton.final[state, END])
            if is_final and (not moves or self.random.random() < 0.5):
                break
            if not moves:
                break
            byte = self.random.choice(moves)
            state, token = int(automaton.moves[state, byte]), token + chr(byte)
        return token

    def _blank(self) -> str:
        name = self.random.choice(self.blanks)
        return "" if name is None else self._token(name)

    def _damaged(self, text: str) -> str:
        draw = self.random
        for _ in range(draw.randint(1, 2)):
            at = draw.randrange(len(text) + 1)
            new = draw.choice((" ", "\n", '"', "\\", "/", chr(draw.randrange(32, 127)), ""))
            text = text[:at] + new + text[at + draw.randint(0, 2) :]
        return text


def compare(grammar: Grammar, lark: Lark, text: str) -> bool:
    """Compare exset with Lark; return whether they accept the text. Raises AssertionError."""
    try:
        expected = lark.parse(text)
    except UnexpectedInput as error:
        try:
            grammar.parse(text)
        except FormatError:
            return False
        raise AssertionError(f"exset accepts {text!r}") from error
    try:
        columns = grammar.parse(text)
    except FormatError as error:
        raise AssertionError(f"exset rejects {text!r}") from error
    assert of_columns(columns) == of_lark(expected, text), text
    return True
