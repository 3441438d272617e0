"""The reference driver: Lark itself runs the grammar. Tests compare the fast driver with Lark.

Only this module and `lowering` use undocumented parts of Lark: the parser's table, and its stack of
states.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np
from lark.exceptions import UnexpectedInput
from lark.lexer import Token
from lark.parsers.lalr_analysis import Shift

from exset.parsers.engine.driver import ANY_STEP
from exset.parsers.engine.expectation import END, opened, stack_after
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.lowering import steps_of
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.engine.tables import SILENT


def run(grammar: Grammar, source: bytes) -> ParseStream:
    """Parse a whole text, and return its tokens and steps.

    Raises `Rejection` for a text that the grammar rejects.
    """
    [stream] = streams(grammar, source)
    return stream


def streams(
    grammar: Grammar,
    source: bytes,
    *,
    begin: int = 0,
    boundary: int | None = None,
    header: Sequence[int] = (),
) -> Iterator[ParseStream]:
    """Parse a whole text, and yield streams of its tokens and steps.

    begin: the offset of the text's first byte. If the grammar is framed, the parser adds one line
    break before the text and one after it. If the grammar rejects the text, raises `Rejection`;
    before this, yields the stream up to the last step that is `boundary` or in `header`, if there
    is such a step.
    """
    parse = _Parse(grammar, source, begin)
    try:
        for token in parse.tokens:
            parse.shift(token)
        parse.parser.feed_token(Token(END, ""))
    except UnexpectedInput as error:
        at = error.pos_in_stream
    else:
        yield parse.stream
        return
    # Lark may have reduced steps before it rejected the token: parse again up to this token.
    before = _Parse(grammar, source, begin)
    for _ in parse.kinds:
        before.shift(next(before.tokens))
    allowed = frozenset(before.parser.accepts())  # type: ignore[no-untyped-call]
    before.reduce_early()
    read = before.stream
    if boundary == ANY_STEP:
        ends = np.arange(len(read.steps))
    else:
        ends = np.flatnonzero(np.isin(read.steps, () if boundary is None else (boundary, *header)))
    rest = read
    if len(ends):
        first, rest = read.split(int(ends[-1]) + 1)
        yield first
    marks = opened(grammar.lowered.literals, rest.kinds, rest.starts)
    at = len(source) if at is None else min(max(at - parse.before, 0), len(source))
    raise Rejection(begin + at, allowed, marks, stack_after(grammar.lowered, read.kinds))


class _Parse:
    """A parse by Lark that records the tokens and the steps."""

    def __init__(self, grammar: Grammar, source: bytes, begin: int) -> None:
        self.grammar = grammar
        self.numbers = {name: number for number, name in enumerate(grammar.terminals)}
        self.range = begin, begin + len(source)
        self.kinds, self.starts, self.ends = array("h"), array("q"), array("q")
        self.steps, self.tokens_before = array("h"), array("q")
        frame = b"\n" * grammar.framed
        self.before = len(frame)
        self.parser = grammar.lark.parse_interactive(frame + source + frame)
        self.tokens: Iterator[Token] = self.parser.lexer_thread.lex(  # type: ignore[no-untyped-call]
            self.parser.parser_state
        )
        self.steps_of = steps_of(grammar.lark, grammar.steps)
        # Lark declares that the keys are text, but uses rules as keys.
        self.parser.parser_state.parse_conf.callbacks = cast(
            "dict[str, Callable[..., None]]",
            {rule: lambda _, step=step: self.reduce(step) for rule, step in self.steps_of.items()},
        )

    def shift(self, token: Token) -> None:
        """Let the parser shift a token, and record it."""
        self.parser.feed_token(token)
        assert token.start_pos is not None and token.end_pos is not None
        self.kinds.append(self.numbers[token.type])
        self.starts.append(token.start_pos - self.before + self.range[0])
        self.ends.append(token.end_pos - self.before + self.range[0])

    def reduce(self, step: int) -> None:
        """Record the step of a rule that the parser reduces, unless it is SILENT."""
        if step != SILENT:
            self.steps.append(step)
            self.tokens_before.append(len(self.kinds))

    def reduce_early(self) -> None:
        """Record the steps that every possible next token reduces first."""
        state = self.parser.parser_state
        states, stack = state.parse_conf.states, state.state_stack
        while True:
            moves = {move for name, move in states[stack[-1]].items() if name.isupper()}
            action, rule = moves.pop() if len(moves) == 1 else (Shift, None)
            if action is Shift:
                return
            del stack[len(stack) - len(rule.expansion) :]
            stack.append(states[stack[-1]][rule.origin.name][1])
            self.reduce(self.steps_of[rule])

    @property
    def stream(self) -> ParseStream:
        """The tokens and steps so far, without the line breaks that were added around the text."""
        return ParseStream(
            kinds=np.array(self.kinds, np.int16),
            starts=np.array(self.starts, np.int64).clip(*self.range),
            ends=np.array(self.ends, np.int64).clip(*self.range),
            steps=np.array(self.steps, np.int16),
            tokens_before=np.array(self.tokens_before, np.int64),
        )
