"""A grammar of `exset.grammars`: as Lark runs it, as tables, and the words that its errors use."""

import contextlib
import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from exset import grammars
from exset.core import disk_cache
from exset.parsers.engine.expectation import END
from exset.parsers.engine.tables import Lowered

if TYPE_CHECKING:
    from lark import Lark

# What the tables depend on besides the grammar; a library says its version in the module named.
_ENGINE = "exset.parsers.engine"
_MODULES = tuple(f"{_ENGINE}.{name}" for name in ("automata", "lexer_tables", "lowering", "tables"))
_LIBRARIES = ("lark", "interegular", "numpy.version")


@dataclass(frozen=True)
class Grammar:
    """A Lark grammar, its start rule, and the steps of its meaning.

    A step is a rule or an alias whose name has no leading underscore. `steps` names those that the
    format's actions act on, in the order of their numbers; `words` says what a terminal is called
    in an error message (a quoted literal where it has none). The grammar is a file of
    `exset.grammars`, or a text. Lark is imported only to lower a grammar the first time, and by the
    reference driver.
    """

    file: str
    start: str
    steps: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    text: str | None = None

    @cached_property
    def lark(self) -> "Lark":
        """The LALR parser: on bytes, every collision of terminals an error."""
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
        """The tables, from the cache if this grammar was lowered before on this machine."""
        if stored := disk_cache.load(self.cache_name):
            with contextlib.suppress(ValueError):
                return Lowered.from_bytes(stored)
        lowering = importlib.import_module("exset.parsers.engine.lowering")
        lowered: Lowered = lowering.lower(self.lark, self.start, self.steps)
        disk_cache.store(self.cache_name, lowered.to_bytes())
        return lowered

    @cached_property
    def cache_name(self) -> str:
        """What the tables are called in the cache: it changes with all that they depend on."""
        text = f"{self.start} {self.steps}\n{self._source}"
        return f"grammars/{self.start}-{disk_cache.digest(text, *_MODULES, *_LIBRARIES)}.tables"

    @property
    def terminals(self) -> tuple[str, ...]:
        """The names of the terminals, in the order of their numbers."""
        return self.lowered.terminals

    def terminal(self, name: str) -> int:
        """The number of a terminal."""
        return self.terminals.index(name)

    @property
    def step_names(self) -> frozenset[str]:
        """Every step that the grammar can report, acted on or not."""
        return frozenset(self.lowered.steps)

    def spoken(self, terminal: str) -> str:
        """What a terminal is called in an error message."""
        if terminal in self.words:
            return self.words[terminal]
        if terminal == END:
            return "the end of the file"
        literal = self.lowered.literals[self.terminal(terminal)]
        return terminal if literal is None else f"`{literal}`"

    @cached_property
    def _source(self) -> str:
        if self.text is not None:
            return self.text
        with open(os.path.join(*grammars.__path__, self.file), encoding="ascii") as file:
            return file.read()
