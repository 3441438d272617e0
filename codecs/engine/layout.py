"""A Construct declaration: as it is, checked, and as the program that it is lowered to."""

import contextlib
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final

from exset.codecs.engine.program import Leaf, Program, Row
from exset.core import disk_cache

if TYPE_CHECKING:
    from construct import Construct

    from exset.codecs.engine.tree import Tree

# What a program depends on besides the declaration.
_ENGINE: Final = "exset.codecs.engine"
MODULES: Final = (
    *(f"{_ENGINE}.{name}" for name in ("assembly", "debug_info", "expressions", "ir", "lowering")),
    *(
        f"{_ENGINE}.{name}"
        for name in ("opcodes", "program", "strings", "superinstructions", "tree")
    ),
)
LIBRARIES: Final = ("construct.version", "numpy.version")


class Layout:
    """A declaration that the engine can run, to read and to write.

    It is a Construct object, or the name of one, "module:name". The program of one that is named is
    kept in the cache: Construct is imported only to make it, and by the reference driver. Such a
    module imports nothing of exset but the engine, so that it says all that the program depends on.
    Raises TypeError that names what the engine does not know, if it is named when it is first used.
    """

    def __init__(self, declaration: "Construct | str") -> None:
        """Check a declaration, unless it is only named."""
        self._declaration = declaration
        self.name = declaration if isinstance(declaration, str) else None
        if self.name is None:
            _ = self.tree

    def __repr__(self) -> str:
        return f"Layout({len(self.leaves)} fields, {len(self.rows)} arrays)"

    @property
    def leaves(self) -> dict[str, Leaf]:
        """The numbers, strings and blobs, each a column, by path."""
        return self.program.leaves

    @property
    def rows(self) -> dict[str, Row]:
        """The arrays, by path."""
        return self.program.rows

    @cached_property
    def tree(self) -> "Tree":
        """The declaration, checked."""
        from exset.codecs.engine.tree import Tree

        if not isinstance(self._declaration, str):
            return Tree(self._declaration)
        module, _, name = self._declaration.partition(":")
        return Tree(getattr(import_module(module), name))

    @cached_property
    def program(self) -> Program:
        """The program, from the cache if this layout was lowered before on this machine."""
        if self.cache_name and (stored := disk_cache.load(self.cache_name)):
            with contextlib.suppress(ValueError):
                return Program.from_bytes(stored)
        from exset.codecs.engine.lowering import lower

        program = lower(self.tree)
        if self.cache_name:
            disk_cache.store(self.cache_name, program.to_bytes())
        return program

    @cached_property
    def cache_name(self) -> str | None:
        """What the program is called in the cache: it changes with all that it depends on."""
        if self.name is None:
            return None
        module, _, name = self.name.partition(":")
        return f"layouts/{name}-{disk_cache.digest(name, module, *MODULES, *LIBRARIES)}.program"
