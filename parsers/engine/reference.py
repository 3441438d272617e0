"""The reference driver: Lark itself runs the grammar. It is slow and simple, and judges the other.

With `lowering`, this is the only module that uses undocumented parts of Lark: the parser's stack of
states and its table.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.grammar import Rule
from lark.lexer import Token
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.parsers.lalr_parser_state import ParseConf

from exset.parsers.engine.expectation import END, certain, expected, opened
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.lowering import rule_name
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.engine.tables import SILENT


def run(grammar: Grammar, source: bytes) -> ParseStream:
    """Parse a whole source. Raises `Rejection`."""
    [stream] = streams(grammar, source)
    return stream


def streams(
    grammar: Grammar, source: bytes, *, begin: int = 0, boundary: int | None = None
) -> Iterator[ParseStream]:
    """Parse a whole source, whose first byte has the offset `begin`.

    The parser adds one line break before the text and one after it. Raises `Rejection`, after the
    stream up to the last step `boundary` before it, if there is one.
    """
    record = _Record(grammar, begin)
    parser = _start(grammar, source, record)
    try:
        for token in _lex(parser):
            parser.feed_token(token)
            record.shift(token)
        parser.feed_token(Token(END, ""))
    except UnexpectedCharacters as error:
        yield from _rejected(grammar, source, record, error.pos_in_stream, boundary)
    except UnexpectedToken as error:
        at = error.token.start_pos if error.token.type != END else None
        yield from _rejected(grammar, source, record, at, boundary)
    else:
        yield record.stream(len(source))


def _start(grammar: Grammar, source: bytes, record: _Record) -> InteractiveParser:
    parser = grammar.lark.parse_interactive(b"\n" + source + b"\n")
    callbacks: dict[Rule, Callable[[list[object]], None]]
    callbacks = dict.fromkeys(grammar.lark.rules, _nothing)
    for rule in grammar.lark.rules:
        if (number := _step(grammar, rule)) != SILENT:
            callbacks[rule] = record.step(number)
    # Lark declares the keys as text, but looks rules up.
    parser.parser_state.parse_conf.callbacks = cast("dict[str, Callable[..., None]]", callbacks)
    return parser


def _step(grammar: Grammar, rule: Rule) -> int:
    name = rule_name(rule)
    return grammar.steps.index(name) if name in grammar.steps else SILENT


def _lex(parser: InteractiveParser) -> Iterator[Token]:
    tokens: Iterator[Token] = parser.lexer_thread.lex(parser.parser_state)  # type: ignore[no-untyped-call]
    return tokens


def _nothing(children: list[object]) -> None:
    return None


@dataclass
class _Record:
    grammar: Grammar
    begin: int
    kinds: array[int] = field(default_factory=lambda: array("h"))
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    steps: array[int] = field(default_factory=lambda: array("h"))
    tokens_before: array[int] = field(default_factory=lambda: array("q"))

    def __post_init__(self) -> None:
        self.numbers = {name: number for number, name in enumerate(self.grammar.terminals)}

    def shift(self, token: Token) -> None:
        assert token.start_pos is not None and token.end_pos is not None
        self.kinds.append(self.numbers[token.type])
        self.starts.append(token.start_pos - 1 + self.begin)
        self.ends.append(token.end_pos - 1 + self.begin)

    def step(self, number: int) -> Callable[[list[object]], None]:
        def reduce(children: list[object]) -> None:
            self.steps.append(number)
            self.tokens_before.append(len(self.kinds))

        return reduce

    def stream(self, length: int) -> ParseStream:
        ends = self.begin, self.begin + length
        return ParseStream(
            kinds=np.array(self.kinds, np.int16),
            starts=np.array(self.starts, np.int64).clip(*ends),
            ends=np.array(self.ends, np.int64).clip(*ends),
            steps=np.array(self.steps, np.int16),
            tokens_before=np.array(self.tokens_before, np.int64),
        )


def _rejected(
    grammar: Grammar, source: bytes, record: _Record, at: int | None, boundary: int | None
) -> Iterator[ParseStream]:
    # When Lark reports the token it may already have reduced on it. So parse again up to the token
    # to get the stack before it.
    before = _Record(grammar, record.begin)
    parser = _start(grammar, source, before)
    tokens = _lex(parser)
    for _ in range(len(record.kinds)):
        token = next(tokens)
        parser.feed_token(token)
        before.shift(token)
    offset = len(source) if at is None else min(max(at - 1, 0), len(source))
    state = parser.parser_state
    table = _LarkTable(grammar, state.parse_conf)
    for number in certain(table, grammar.terminals, state.state_stack):
        before.step(number)([])
    if boundary is not None and boundary in before.steps:
        last = len(before.steps) - before.steps[::-1].index(boundary)
        yield before.stream(len(source)).split(last)[0]
    found = expected(table, grammar.terminals, state.state_stack)
    read = before.stream(len(source))
    raise Rejection(
        record.begin + offset, found, opened(grammar.lowered.literals, read.kinds, read.starts)
    )


class _LarkTable:
    """Lark's own LALR table, for `expected` and `certain`."""

    def __init__(self, grammar: Grammar, conf: ParseConf[int]) -> None:
        self.grammar = grammar
        self.states = conf.states
        self.end = conf.end_state

    def move(self, state: int, terminal: str) -> bool | tuple[int, str, int] | None:
        action, rule = self.states[state].get(terminal, (None, None))
        if action is None:
            return None
        if action is Shift:
            return True
        return len(rule.expansion), rule.origin.name, _step(self.grammar, rule)

    def goto(self, state: int, origin: str) -> int:
        following: int = self.states[state][origin][1]
        return following

    def accepts(self, state: int) -> bool:
        return state == self.end
