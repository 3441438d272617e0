"""Compile a Lark grammar of your own to tables, with which exset parses texts to columns."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import DTypeLike

from exset.core.disk_cache import digest
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.io import files
from exset.parsers.custom.doubles import KERNELS
from exset.parsers.engine import grammar as engine
from exset.parsers.engine.driver import TOKENS

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

    from exset.parsers.custom.columns import Columns
    from exset.parsers.custom.shape import Shape

_BYTES_A_TOKEN: Final = 4
"""An estimate: the room for tokens grows where there are more."""
_COMMENT: Final = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_ADVICE: Final = "the grammar cannot be compiled"


@dataclass(frozen=True)
class _Tables(engine.Grammar):
    """The grammar as tables. Its cache depends on what Lark makes of it, with imported files."""

    parser: "Lark | None" = None

    @cached_property
    def lark(self) -> "Lark":
        """The LALR parser of bytes."""
        assert self.parser is not None
        return self.parser

    @cached_property
    def cache_name(self) -> str:
        """The name of the tables in the cache; it changes if anything changes the tables."""
        patterns = sorted(
            (each.name, each.priority, each.pattern.to_regexp(), each.pattern.type)
            for each in self.lark.terminals
        )
        rules = [(repr(rule), rule.order, rule.options.priority) for rule in self.lark.rules]
        text = f"{self.start} {patterns} {rules} {sorted(self.lark.ignore_tokens)}"
        name = digest(text, *engine.MODULES, *engine.LIBRARIES)
        return f"grammars/own-{name}.tables"


@dataclass(frozen=True)
class Grammar:
    """A Lark grammar of your own, which exset runs as tables.

    text: the grammar. start: its start rule. numbers: the dtype of each terminal that is a number;
    the others are text. words: the names of terminals in error messages. folder: the folder of
    relative imports in the grammar. keep_all_tokens, maybe_placeholders: as in Lark.
    """

    text: str
    start: str = "start"
    numbers: Mapping[str, DTypeLike] = field(default_factory=lambda: MappingProxyType({}))
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: str | None = None
    keep_all_tokens: bool = False
    maybe_placeholders: bool = True

    def parse(
        self, data: bytes | str, *, name: str = "<text>", engine: Engine = "auto"
    ) -> "Columns":
        """Return the columns of a text: a table for each rule and alias.

        Text is parsed as UTF-8 bytes. `name` is for messages. `engine`: "reference" lets Lark run
        the grammar. Raises FormatError for a text that the grammar rejects, and for a number that
        its dtype cannot hold.
        """
        content = data.encode() if isinstance(data, str) else data
        return self._columns(Source(name, content), engine)

    def load(self, path: str | os.PathLike[str], *, engine: Engine = "auto") -> "Columns":
        """Return the columns of a file, which may be compressed. Raises FormatError, OSError."""
        return self._columns(files.read(path), engine)

    def tree(self, data: bytes | str) -> "Tree[Token]":
        """Return the tree that Lark itself makes of a text. Raises the exceptions of Lark."""
        text = data if isinstance(data, str) else data.decode()
        return self._lark(use_bytes=False).parse(text)

    def explain(self) -> str:
        """Return, as text, the tables that a parse gives, and their columns."""
        lines = []
        for name, children in self.shape.children.items():
            above = " or ".join(self.shape.parents[name])
            lines.append(f"{name}" + (f", in {above}" if above else ""))
            for child, count in children.items():
                what = (
                    "table" if child in self.shape.children else str(self._dtype(child) or "text")
                )
                many = "several" if count.most > 1 else "one" if count.least else "one or none"
                lines.append(f"    {child}: {what}, {many}")
        return "\n".join(lines)

    @cached_property
    def shape(self) -> "Shape":
        """The nodes of the grammar, and their children."""
        from exset.parsers.custom.shape import Shape

        return Shape(self.tables.lark)

    @cached_property
    def tables(self) -> engine.Grammar:
        """The grammar as the engine runs it. Raises ValueError for what it cannot run."""
        made = _Tables(
            file="",
            start=self.start,
            steps=None,
            words=self.words,
            framed=False,
            parser=self._lark(use_bytes=True),
        )
        try:
            terminals = made.terminals
        except ValueError as error:
            raise ValueError(f"{_ADVICE}: {error}") from None
        for name in self.numbers:
            if name not in terminals:
                raise ValueError(f"numbers: the grammar has no terminal {name!r}")
            self._dtype(name)
        return made

    def _lark(self, *, use_bytes: bool) -> "Lark":
        from lark import Lark

        return Lark(
            self._ascii if use_bytes else self.text,
            parser="lalr",
            lexer="contextual",
            start=self.start,
            use_bytes=use_bytes,
            keep_all_tokens=self.keep_all_tokens,
            maybe_placeholders=self.maybe_placeholders,
            import_paths=[self.folder] if self.folder else [],
        )

    @property
    def _ascii(self) -> str:
        """The grammar without comments, if there are characters in them that bytes do not have."""
        text = self.text if self.text.isascii() else _COMMENT.sub("", self.text)
        if wrong := _NOT_ASCII.search(text):
            line = text.count("\n", 0, wrong.start()) + 1
            code = "".join(f"\\x{byte:02x}" for byte in wrong[0].encode())
            raise ValueError(
                f"{_ADVICE}: line {line} has `{wrong[0]}`; write its UTF-8 bytes, {code}, in a "
                "regular expression"
            )
        return text

    def _dtype(self, terminal: str) -> "np.dtype[Any] | None":
        """Return the dtype of a terminal, None for text. Raises ValueError."""
        from exset.parsers.custom.values import DTYPES

        if terminal not in self.numbers:
            return None
        dtype = np.dtype(self.numbers[terminal])
        if dtype not in DTYPES:
            listed = ", ".join(map(str, DTYPES))
            raise ValueError(f"numbers: {terminal} cannot be {dtype}; use one of {listed}")
        return dtype

    def _columns(self, source: Source, engine: Engine) -> "Columns":
        from exset.parsers.custom import values
        from exset.parsers.custom.columns import Columns
        from exset.parsers.custom.nodes import nodes_of

        compiled = KERNELS.use_compiled(len(source.content), engine)
        room = max(len(source.content) // _BYTES_A_TOKEN, TOKENS)
        [stream] = self.tables.parse(source, engine, hint=lambda _: None, tokens=room)
        nodes = nodes_of(self.shape, stream, compiled=compiled)

        def read(terminal: str, starts: Any, ends: Any) -> Any:
            dtype = self._dtype(terminal)
            if dtype is None:
                return values.text(source, starts, ends)
            return values.read_numbers(source, starts, ends, dtype, compiled=compiled)

        return Columns(self.shape, source, stream, nodes, self.tables.terminals, read)


def compile_grammar(
    grammar: str | os.PathLike[str],
    *,
    start: str = "start",
    numbers: Mapping[str, DTypeLike] | None = None,
    words: Mapping[str, str] | None = None,
    keep_all_tokens: bool = False,
    maybe_placeholders: bool = True,
) -> Grammar:
    """Compile a Lark grammar: its text, or a file, as a path object (`pathlib.Path`).

    numbers: the dtype of each terminal that is a number, such as `{"REAL": "float32"}`. words: the
    names of terminals in error messages. The other options are options of Lark. The grammar is
    LALR(1), with a contextual lexer. Raises ValueError for what the engine cannot run, and the
    exceptions of Lark for a grammar that is wrong.
    """
    if isinstance(grammar, str):
        text, folder = grammar, None
    else:
        text, folder = files.read(grammar).data.decode(), os.path.dirname(os.path.abspath(grammar))
    made = Grammar(
        text,
        start,
        MappingProxyType(dict(numbers or {})),
        MappingProxyType(dict(words or {})),
        folder,
        keep_all_tokens,
        maybe_placeholders,
    )
    _ = made.tables
    return made
