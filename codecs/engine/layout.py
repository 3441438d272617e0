"""A layout: a checked Construct declaration, and the program made from it."""

import contextlib
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final

from exset.codecs.engine.program import Leaf, Program, Row
from exset.core import disk_cache
from exset.core.disk_cache import digest

if TYPE_CHECKING:
    from construct import Construct

    from exset.codecs.engine.declaration import Tree

# The sources on which a program depends, in addition to the declaration.
MODULES: Final = tuple(
    f"exset.codecs.engine.{name}"
    for name in (
        "assembly",
        "declaration",
        "expressions",
        "ir",
        "lowering",
        "opcodes",
        "program",
        "wording",
    )
)
LIBRARIES: Final = ("construct.version", "numpy.version")


class Layout:
    """A declaration that the engine can run, to read and to write.

    declaration: a Construct object, or the name of one, "module:name". With a name, the program is
    cached on disk, and Construct is imported only to make the program or for the reference driver.
    The module must import no part of exset except the engine, because the cache does not notice
    when other parts change. tree: the checked declaration, if the caller has it.

    Raises TypeError for an unsupported declaration. With a name, this happens on first use.
    """

    def __init__(self, declaration: "Construct | str | None", tree: "Tree | None" = None) -> None:
        self._declaration = declaration
        self.name = declaration if isinstance(declaration, str) else None
        if tree is not None:
            self.tree = tree
        if self.name is None:
            _ = self.tree

    def __repr__(self) -> str:
        return f"Layout({len(self.leaves)} fields, {len(self.rows)} arrays)"

    @property
    def leaves(self) -> dict[str, Leaf]:
        """The numbers, strings and blobs (raw bytes) by path. Each of these fields is a column."""
        return self.program.leaves

    @property
    def rows(self) -> dict[str, Row]:
        """The arrays of the declaration, by path."""
        return self.program.rows

    @cached_property
    def tree(self) -> "Tree":
        """The declaration, checked and converted to nodes of `ir`."""
        from exset.codecs.engine.declaration import Tree

        if not isinstance(self._declaration, str):
            return Tree(self._declaration)
        module, _, name = self._declaration.partition(":")
        return Tree(getattr(import_module(module), name))

    @cached_property
    def program(self) -> Program:
        """The program, from the cache or made from the declaration."""
        if self.cache_name and (stored := disk_cache.load(self.cache_name)):
            with contextlib.suppress(ValueError):
                return Program.from_bytes(stored)
        from exset.codecs.engine.lowering import lower

        program = lower(self.tree, owners=self._declaration is None)
        if self.cache_name:
            disk_cache.store(self.cache_name, program.to_bytes())
        return program

    @cached_property
    def cache_name(self) -> str | None:
        """The program's name in the cache: a digest of everything on which the program depends.

        None if the program is not cached.
        """
        if self.name is None:
            return None
        module, _, name = self.name.partition(":")
        return f"layouts/{name}-{digest(name, module, *MODULES, *LIBRARIES)}.program"
