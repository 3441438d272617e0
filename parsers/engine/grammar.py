"""A grammar of `exset.grammars`. Lark, or tables made from the grammar, parse texts with it."""

import contextlib
import importlib
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from exset import grammars
from exset.core import disk_cache, progress
from exset.core.disk_cache import digest
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.lookalikes import foreign
from exset.core.source import Source
from exset.parsers.engine.division import LARGEST, Division, Marks, Sizes, sizes_of
from exset.parsers.engine.driver import KERNELS, TOKENS, Block, Driver, blocks
from exset.parsers.engine.errors import Hint, syntax_error
from exset.parsers.engine.expectation import END
from exset.parsers.engine.recovery import Check, Records, errors_after
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.engine.tables import Lowered
from exset.parsers.engine.window import Window

if TYPE_CHECKING:
    from lark import Lark

R = TypeVar("R")

# The tables also depend on these modules; a library is listed by the module that has its version.
_ENGINE = "exset.parsers.engine"
_SOURCES = ("automata", "expressions", "lexer_tables", "lowering", "tables")
MODULES = tuple(f"{_ENGINE}.{name}" for name in _SOURCES)
LIBRARIES = ("lark", "numpy.version")


@dataclass(frozen=True)
class Grammar:
    """A Lark grammar, its start rule, and its steps.

    A step is a rule, or an alias, whose name has no leading underscore. Lark is imported only to
    lower a grammar the first time, and by the reference driver.

    - `steps`: the names of the steps that the format's actions handle, in the order of their
      numbers. With None, each rule of Lark's table is a step.
    - `words`: the names of terminals in error messages. A terminal without a name is shown as its
      quoted literal.
    - `records`: how to continue after a syntax error.
    - `file`: the file of `exset.grammars` that has the grammar, unless `text` is the grammar.
    - `framed`: the drivers add a line break before the parsed text and one after it.
    """

    file: str
    start: str
    steps: tuple[str, ...] | None
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    records: Records | None = None
    text: str | None = None
    framed: bool = True

    def parse(
        self,
        text: Source | Window,
        engine: Engine = "auto",
        *,
        hint: Hint,
        begin: int = 0,
        boundary: int | None = None,
        tokens: int = TOKENS,
        check: Check | None = None,
    ) -> Iterator[ParseStream]:
        """Yield the tokens and steps of a text, from the byte `begin` on, as parse streams.

        - `text`: a whole text, or a window of a text that is still being read.
        - `engine`: with "reference", Lark runs the grammar. With "table", the compiled kernel runs
          the lowered grammar. With "auto", the kernel is compiled only if the text is long.
        - `boundary`: the step that ends each stream except the last. With None there is one stream.
        - `tokens`: the number of tokens for which memory is first allocated.
        - `hint`: a function that returns advice on a syntax error.
        - `check`: a function that raises the errors that the reader finds in a stream.

        At an error, this method yields the streams of all records before the error, or the stream
        of the header if the first record has the error. Then it raises FormatError. If `text` is a
        whole text, the FormatError also has the errors of later records.
        """
        results = self.results(
            text, engine, hint=hint, begin=begin, boundary=boundary, tokens=tokens, check=check
        )
        return (stream for stream, _ in results)

    def results(
        self,
        text: Source | Window,
        engine: Engine = "auto",
        *,
        hint: Hint,
        begin: int = 0,
        boundary: int | None = None,
        tokens: int = TOKENS,
        check: Check | None = None,
        work: Callable[[ParseStream], R | None] | None = None,
        largest: int = LARGEST,
    ) -> Iterator[tuple[ParseStream, R | None]]:
        """Yield the streams of `parse`, each with the result of `work`.

        The result is None for a stream for which `work` was not called or raised FormatError. With
        `work`, several threads parse a large text that is complete. These threads call `work` for
        all streams except the first of the text, so `work` must change nothing.
        largest: the most bytes that a thread parses at once; its tokens may take many times as
        much memory.
        """
        try:
            yield from self._results(text, engine, begin, boundary, tokens, work, largest)
        except Rejection as rejection:
            source = text if isinstance(text, Source) else text.source

            def describe(rejection: Rejection) -> FormatError:
                return syntax_error(source, begin, rejection, self.display_name, hint)

            error = describe(rejection)
            if isinstance(text, Source):
                self._add_later(error, text, rejection, engine, describe, check)
            raise error from None

    def streams(
        self,
        text: Source | Window,
        engine: Engine,
        *,
        begin: int = 0,
        boundary: int | None = None,
        tokens: int = TOKENS,
    ) -> Iterator[ParseStream]:
        """Yield the same streams as `parse`, but raise `Rejection` where the grammar rejects the
        text.
        """
        for stream, _ in self._results(text, engine, begin, boundary, tokens, None, LARGEST):
            yield stream

    def _results(
        self,
        text: Source | Window,
        engine: Engine,
        begin: int,
        boundary: int | None,
        tokens: int,
        work: Callable[[ParseStream], R | None] | None,
        largest: int,
    ) -> Iterator[tuple[ParseStream, R | None]]:
        """Yield the same pairs as `results`, but raise `Rejection` where the grammar rejects the
        text.
        """
        driver = partial(self._driver, text, engine, boundary, tokens)
        parts = _parts(text, begin)
        try:
            if engine == "reference":
                reference = importlib.import_module("exset.parsers.engine.reference")
                header = () if self.records is None else self.records.header
                streams = reference.streams(
                    self, b"".join(parts), begin=begin, boundary=boundary, header=header
                )
                yield from ((stream, None) for stream in streams)
            elif (
                work is not None
                and self.records is not None
                and isinstance(text, Source)
                and (sizes := sizes_of(text, largest))
                and KERNELS.use_compiled(size_of(text), engine)
            ):
                marks = Marks.of(self.records)
                yield from Division(text, marks, sizes, driver, work).results(begin)
            else:
                yield from ((stream, None) for stream in driver(begin, whole=False).streams(parts))
        finally:
            parts.close()

    def divided(
        self,
        text: Source,
        engine: Engine,
        sizes: Sizes,
        marks: Marks,
        boundary: Sequence[int],
        work: Callable[[ParseStream], R | None],
    ) -> Iterator[tuple[ParseStream, R | None]]:
        """Yield the streams of a text that several threads parse, each with the result of `work`.

        marks: where records probably begin. boundary: the steps that complete a record. Raises
        `Rejection` where the grammar rejects the text.
        """
        driver = partial(self._driver, text, engine, boundary, TOKENS)
        yield from Division(text, marks, sizes, driver, work).results(0)

    def _driver(
        self,
        text: Source | Window,
        engine: Engine,
        boundary: int | Sequence[int] | None,
        tokens: int,
        begin: int,
        stack: tuple[int, ...] = (),
        *,
        whole: bool = True,
    ) -> Driver:
        return Driver(
            self.lowered,
            begin=begin,
            boundary=boundary,
            compiled=lambda: KERNELS.use_compiled(size_of(text), engine),
            tokens=tokens,
            eager=isinstance(text, Window),
            header=() if self.records is None else self.records.header,
            stack=stack,
            framed=self.framed,
            whole=whole,
        )

    def _add_later(
        self,
        error: FormatError,
        source: Source,
        rejection: Rejection,
        engine: Engine,
        describe: Callable[[Rejection], FormatError],
        check: Check | None,
    ) -> None:
        """Add the errors of later records to the first error of a text.

        rejection: where the grammar rejected the text. describe: makes the error for a rejection.
        check: raises the errors that the reader finds in a stream.
        """
        if self.records is None or foreign(source.data):
            return
        compiled = KERNELS.use_compiled(size_of(source), engine)
        later = errors_after(
            self.lowered,
            self.records,
            source,
            rejection,
            compiled=compiled,
            describe=describe,
            check=check,
        )
        for found in later:
            if not error.add(found.finding):
                return

    @cached_property
    def lark(self) -> "Lark":
        """Lark's LALR parser for this grammar. It parses bytes, and does not accept terminals that
        collide.
        """
        from lark import Lark

        return Lark(
            self._source,
            parser="lalr",
            lexer="contextual",
            start=self.start,
            use_bytes=True,
            strict=True,
            maybe_placeholders=False,
        )

    @cached_property
    def lowered(self) -> Lowered:
        """The tables made from the grammar. They are read from the cache if they are there."""
        if stored := disk_cache.load(self.cache_name):
            with contextlib.suppress(ValueError):
                return Lowered.from_bytes(stored)
        lowering = importlib.import_module("exset.parsers.engine.lowering")
        lowered: Lowered = lowering.lower(self.lark, self.start, self.steps)
        disk_cache.store(self.cache_name, lowered.to_bytes())
        return lowered

    @cached_property
    def cache_name(self) -> str:
        """The name of the tables in the cache. The name depends on everything that affects the
        tables.
        """
        text = f"{self.start} {self.steps}\n{self._source}"
        return f"grammars/{self.start}-{digest(text, *MODULES, *LIBRARIES)}.tables"

    @property
    def terminals(self) -> tuple[str, ...]:
        """The names of the terminals, in the order of their numbers."""
        return self.lowered.terminals

    def terminal(self, name: str) -> int:
        """Return the number of a terminal."""
        return self.terminals.index(name)

    def display_name(self, terminal: str) -> str:
        """Return the name that error messages use for a terminal."""
        if terminal in self.words:
            return self.words[terminal]
        if terminal == END:
            return "the end of the file"
        literal = self.lowered.literals[self.terminal(terminal)]
        return terminal if literal is None else f"`{literal}`"

    def pattern(self, terminal: str) -> str:
        """Return the regular expression of a terminal, as written in the grammar."""
        found = re.search(rf"^{terminal}(?:\.\d+)?: /(.*)/$", self._source, re.MULTILINE)
        assert found, terminal
        return found[1]

    @cached_property
    def _source(self) -> str:
        if self.text is not None:
            return self.text
        with open(os.path.join(*grammars.__path__, self.file), encoding="ascii") as file:
            return file.read()


def size_of(text: Source | Window) -> int:
    """Return the size of a text in bytes, or the size so far if the text is still being read."""
    return len(text.content) if isinstance(text, Source) else text.size


def _parts(text: Source | Window, begin: int) -> Generator[Block, None, None]:
    """Yield the bytes of a text from `begin` on, in blocks."""
    if isinstance(text, Source):
        with progress.task("parsing", text.name, len(text.content) - begin):
            for block in blocks(text, text.start + begin):
                yield block
                progress.advance(len(block))
        return
    for chunk in text.chunks():
        yield chunk[begin:]
        begin = max(begin - len(chunk), 0)
