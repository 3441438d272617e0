"""Compile the user's own Lark grammar to tables, with which exset parses texts to columns."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from numpy.typing import DTypeLike

from exset.core.disk_cache import digest
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.io import files
from exset.io.blocks import too_long
from exset.io.files import FilePath
from exset.parsers.custom.doubles import KERNELS
from exset.parsers.engine import grammar as engine
from exset.parsers.engine.division import sizes_of
from exset.parsers.engine.stream import Rejection
from exset.parsers.engine.window import Window

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

    from exset.parsers.custom.columns import Columns
    from exset.parsers.custom.conversions import Action, Conversion
    from exset.parsers.custom.reading import Reading
    from exset.parsers.custom.shape import Shape

_CHUNK: Final = 1 << 18
"""The least number of tokens in a chunk of a stream, but in the last one."""
_COMMENT: Final = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_ADVICE: Final = "the grammar cannot be compiled"


@dataclass(frozen=True)
class _Tables(engine.Grammar):
    """The grammar as tables.

    The name of the tables in the cache depends on the grammar that Lark loads, with its imports.
    """

    parser: "Lark | None" = None

    @cached_property
    def lark(self) -> "Lark":
        """Lark's LALR parser for the grammar, which parses bytes."""
        assert self.parser is not None
        return self.parser

    @cached_property
    def cache_name(self) -> str:
        """The name of the tables in the cache. The name depends on everything that affects the
        tables.
        """
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
    """A Lark grammar of your own, which exset compiles to tables.

    - text: the grammar.
    - start: the start rule.
    - numbers: the dtype of each terminal that is a number.
    - texts: the terminals that must be UTF-8 text. All other terminals become text, or bytes if a
      token is not UTF-8.
    - words: the names of terminals in error messages.
    - folder: the folder in which Lark looks for relative imports of the grammar.
    - keep_all_tokens, maybe_placeholders: as in Lark.
    """

    text: str
    start: str = "start"
    numbers: Mapping[str, "DTypeLike | Action"] = field(
        default_factory=lambda: MappingProxyType({})
    )
    texts: frozenset[str] = frozenset()
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: str | None = None
    keep_all_tokens: bool = False
    maybe_placeholders: bool = True

    def parse(
        self,
        data: bytes | str,
        *,
        name: str = "<text>",
        limits: Limits = DEFAULT,
        engine: Engine = "auto",
    ) -> "Columns":
        """Return the columns of a text: a table for each rule and alias.

        A `str` is parsed as UTF-8 bytes. `name`: the file name in messages. `engine`: with
        "reference", Lark itself parses the text. Raises FormatError for a text that the grammar
        rejects, and for a token that its dtype cannot store. Raises LimitError for a text of more
        than `max_bytes` bytes.
        """
        content = data.encode() if isinstance(data, str) else data
        if len(content) > limits.max_bytes:
            raise too_long(name, limits)
        return self._columns(Source(name, content), engine)

    def load(
        self, path: FilePath, *, limits: Limits = DEFAULT, engine: Engine = "auto"
    ) -> "Columns":
        """Return the columns of a file, which may be compressed.

        Raises FormatError as `parse` does, and OSError if the file cannot be read.
        """
        return self._columns(files.read(path, limits=limits), engine)

    def stream(
        self,
        path: FilePath,
        *,
        records: str | None = None,
        limits: Limits = DEFAULT,
        engine: Engine = "auto",
    ) -> "Iterator[Columns]":
        """Yield the columns of a large file in chunks of whole records.

        `records`: the rule whose nodes are the records. By default, the records are the items of
        the outermost list. Rows count from 0 in each chunk. `parent` has no value for a record,
        because the node that contains the record ends in a later chunk. Raises ValueError for an
        unknown rule, FormatError as `parse` does, and OSError if the file cannot be read.
        """
        if records is not None and records not in self.shape.children:
            raise ValueError(f"records: the grammar has no table {records!r}")
        with files.blocks(path, limits=limits) as blocks:
            window = Window(blocks, b"")
            yield from self._reading(window, engine, blocks.size or 0, records).chunks()

    def tree(self, data: bytes | str) -> "Tree[Token]":
        """Return the tree that Lark itself makes of a text.

        Raises Lark's exceptions for a text that the grammar rejects.
        """
        text = data if isinstance(data, str) else data.decode()
        return self._lark(use_bytes=False).parse(text)

    def explain(self) -> str:
        """Return a text that lists the tables and columns that `parse` returns."""
        lines = []
        for name, children in self.shape.children.items():
            above = " or ".join(self.shape.parents[name])
            lines.append(f"{name}" + (f", in {above}" if above else ""))
            for child, count in children.items():
                what = "table" if child in self.shape.children else self._type(child)
                many = "several" if count.most > 1 else "one" if count.least else "one or none"
                lines.append(f"    {child}: {what}, {many}")
        return "\n".join(lines)

    def _type(self, terminal: str) -> str:
        found = self.conversions.get(terminal)
        return "text" if found is None or found.dtype is None else str(found.dtype)

    @cached_property
    def shape(self) -> "Shape":
        """The kinds of nodes of the grammar, and the children that each kind can have."""
        from exset.parsers.custom.shape import Shape

        return Shape(self.tables.lark)

    @cached_property
    def tables(self) -> engine.Grammar:
        """The grammar as the engine runs it.

        Raises ValueError for a grammar that the engine cannot run.
        """
        made = _Tables(
            file="",
            start=self.start,
            steps=None,
            words=self.words,
            framed=False,
            parser=self._lark(use_bytes=True),
        )
        if not made.lark.terminals:
            raise ValueError(f"{_ADVICE}: it has no terminals")
        try:
            _ = made.terminals
        except ValueError as error:
            raise ValueError(f"{_ADVICE}: {error}") from None
        return made

    @cached_property
    def conversions(self) -> "Mapping[str, Conversion]":
        """The conversion of each terminal that is declared as a number or text, by the terminal's
        name.

        Raises ValueError for an invalid declaration.
        """
        from exset.parsers.custom.conversions import conversions

        found, terminals = conversions(self.text, self.numbers, self.texts), self.tables.terminals
        for name in found:
            if name not in terminals:
                raise ValueError(f"the grammar has no terminal {name!r}, or does not use it")
        return found

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
        """The grammar's text; without its comments, if the comments are not ASCII.

        Raises ValueError if the text outside comments is not ASCII.
        """
        text = self.text if self.text.isascii() else _COMMENT.sub("", self.text)
        if wrong := _NOT_ASCII.search(text):
            line = text.count("\n", 0, wrong.start()) + 1
            code = "".join(f"\\x{byte:02x}" for byte in wrong[0].encode())
            raise ValueError(
                f"{_ADVICE}: line {line} has `{wrong[0]}`; write its UTF-8 bytes, {code}, in a "
                "regular expression"
            )
        return text

    def _columns(self, source: Source, engine: Engine) -> "Columns":
        size = len(source.content)
        if (sizes := sizes_of(source)) and KERNELS.use_compiled(size, engine):
            # If the text has an error, one thread finds the first.
            with suppress(Rejection, FormatError):
                if columns := self._reading(source, engine, size).whole(sizes):
                    return columns
        [columns] = self._reading(source, engine, size).chunks()
        return columns

    def _reading(
        self, text: "Source | Window", engine: Engine, size: int, records: str | None = None
    ) -> "Reading":
        from exset.parsers.custom.builder import Builder
        from exset.parsers.custom.reading import Reading

        compiled = KERNELS.use_compiled(size, engine)
        make = partial(
            Builder,
            self.shape,
            self.tables.terminals,
            compiled=compiled,
            size=1 << 62 if isinstance(text, Window) else size,
            cut_from=_CHUNK if isinstance(text, Window) else None,
            record=records,
        )
        return Reading(self.tables, self.shape, self.conversions, text, engine, make, compiled)


def compile_grammar(
    grammar: str | os.PathLike[str],
    *,
    start: str = "start",
    numbers: "Mapping[str, DTypeLike | Action] | None" = None,
    text: Collection[str] = (),
    words: Mapping[str, str] | None = None,
    keep_all_tokens: bool = False,
    maybe_placeholders: bool = True,
) -> Grammar:
    """Compile a Lark grammar. grammar: its text as a `str`, or a file as a path object
    (`pathlib.Path`).

    numbers: the dtype of each terminal that is a number, such as `{"REAL": "float32"}`, or an
    action that computes it (`exset.action`). text: the terminals that must be UTF-8. Comments in
    the grammar can declare both. words: the names of terminals in error messages. The other
    options are options of Lark. The grammar must be LALR(1), with a contextual lexer. Raises
    ValueError for a grammar that the engine cannot run, and Lark's exceptions for a wrong grammar.
    """
    if isinstance(grammar, str):
        source, folder = grammar, None
    else:
        source = files.read(grammar).data.decode()
        folder = os.path.dirname(os.path.abspath(grammar))
    made = Grammar(
        source,
        start,
        MappingProxyType(dict(numbers or {})),
        frozenset(text),
        MappingProxyType(dict(words or {})),
        folder,
        keep_all_tokens,
        maybe_placeholders,
    )
    _ = made.conversions
    return made
