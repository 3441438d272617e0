"""Layouts that are only named: what they are lowered to is kept, and made anew when it must be."""

import ast
import zlib
from importlib.metadata import version
from pathlib import Path

import pytest
from construct import Byte, IfThenElse, Pass, Struct, this

from exset.codecs.engine import Layout, layout, read, write
from exset.codecs.engine.declaration import NulString, Tree, split_declaration
from exset.codecs.engine.lowering import lower
from exset.codecs.engine.program import Program
from exset.codecs.lens import bex
from exset.codecs.lens import layout as lens_layout
from exset.codecs.lens.to_examples import REALS
from exset.core.source import Source
from tests.codecs.foreign_layouts import LAYOUTS
from tests.core.sources import edit, source_of
from tests.lens.bex_builder import RICH

NAME = "exset.codecs.lens.layout:BinaryExampleFile"
ODD = Struct("s" / NulString(), "x" / IfThenElse((this.s == b"") | (this.s == b"\xff"), Byte, Pass))
DECLARATIONS = {"lens": lens_layout.BinaryExampleFile, "odd": ODD, **LAYOUTS}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_program_is_kept_whole(name: str) -> None:
    program = lower(Tree(DECLARATIONS[name]))
    again = Program.from_bytes(program.to_bytes())
    assert vars(again) == vars(program)
    assert [*again.leaves] == [*program.leaves] and [*again.rows] == [*program.rows]
    assert again.to_bytes() == program.to_bytes()


def test_what_is_named_is_what_is_declared() -> None:
    assert tuple(REALS.values()) == lens_layout.REALS
    assert bex.LAYOUT.tree.root.construct is lens_layout.BinaryExampleFile
    for part in (bex.LAYOUT, bex.CHUNKED.head, bex.CHUNKED.tail, bex.CHUNKED.one):
        assert vars(part.program) == vars(lower(part.tree))
    assert Layout(lens_layout.BinaryExampleFile).cache_name is None


def test_the_cache_of_layouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path))
    first = Layout(NAME).program
    [stored] = tmp_path.glob("layouts/*")
    whole = stored.read_bytes()
    flipped = whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]
    for broken in (b"", b"no program", whole[:-30], flipped, zlib.compress(b"no program")):
        stored.write_bytes(broken)
        again = Layout(NAME)
        assert vars(again.program) == vars(first)
        assert stored.read_bytes() == whole
        assert write(again, read(again, Source("x", RICH))) == RICH
    _ = Layout("exset.codecs.lens.layout:Head").program
    assert len(list(tmp_path.glob("layouts/*"))) == 2


def test_what_is_kept_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path))
    _ = Layout(NAME).program
    monkeypatch.setattr("exset.codecs.engine.lowering.lower", None)
    again = Layout(NAME)
    assert write(again, read(again, Source("x", RICH))) == RICH
    assert "tree" not in vars(again)


def test_no_cache_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path / "file" / "x"))
    assert len(Layout(NAME).leaves) == len(bex.LAYOUT.leaves)


@pytest.mark.parametrize("module", [lens_layout.__name__, *layout.MODULES, *layout.LIBRARIES])
def test_programs_are_made_anew_for_another_declaration_engine_or_library(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Layout(NAME).cache_name
    assert Layout(NAME).cache_name == before
    edit(module, tmp_path, monkeypatch)
    assert Layout(NAME).cache_name != before


def test_all_that_a_program_depends_on_is_named() -> None:
    """The declaration, and what makes a program, import nothing else of exset but its cache."""
    known = {lens_layout.__name__, *layout.MODULES}
    for module in known:
        for node in ast.walk(ast.parse(source_of(module))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("exset"):
                names = {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
                assert names & known, f"{module} imports {node.module}"


@pytest.mark.parametrize("module", layout.LIBRARIES)
def test_libraries_say_their_version_where_it_is_looked_for(module: str) -> None:
    assert version(module.split(".")[0]).encode() in source_of(module)


def test_what_is_no_count_and_an_array_is_not_taken_apart() -> None:
    with pytest.raises(TypeError, match="a count and an array"):
        split_declaration(LAYOUTS["archive"])
