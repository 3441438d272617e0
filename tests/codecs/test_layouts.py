"""Named layouts: their programs are cached, and lowered again when anything changes."""

import ast
import zlib
from importlib.metadata import version
from pathlib import Path

import pytest
from construct import Byte, IfThenElse, Pass, Struct, this

from exset.codecs.engine import Layout, layout, read, write
from exset.codecs.engine.declaration import NulString, Tree
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
STRINGS = Struct(
    "s" / NulString(), "x" / IfThenElse((this.s == b"") | (this.s == b"\xff"), Byte, Pass)
)
DECLARATIONS = {"lens": lens_layout.BinaryExampleFile, "strings": STRINGS, **LAYOUTS}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_programs_are_stored_without_loss(name: str) -> None:
    program = lower(Tree(DECLARATIONS[name]))
    again = Program.from_bytes(program.to_bytes())
    assert vars(again) == vars(program)
    assert [*again.leaves] == [*program.leaves] and [*again.rows] == [*program.rows]
    assert again.to_bytes() == program.to_bytes()


def test_a_named_layout_is_the_declaration() -> None:
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


def test_a_cached_program_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path))
    _ = Layout(NAME).program
    monkeypatch.setattr("exset.codecs.engine.lowering.lower", None)
    again = Layout(NAME)
    assert write(again, read(again, Source("x", RICH))) == RICH
    assert "tree" not in vars(again)


def test_an_unwritable_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path / "file" / "x"))
    assert len(Layout(NAME).leaves) == len(bex.LAYOUT.leaves)


@pytest.mark.parametrize("module", [lens_layout.__name__, *layout.MODULES, *layout.LIBRARIES])
def test_the_cache_name_depends_on_declaration_engine_and_libraries(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Layout(NAME).cache_name
    assert Layout(NAME).cache_name == before
    edit(module, tmp_path, monkeypatch)
    assert Layout(NAME).cache_name != before


def test_all_dependencies_of_a_program_are_listed() -> None:
    """The modules of the engine that make a program import no other module of exset."""
    listed = {lens_layout.__name__, *layout.MODULES}
    for module in listed:
        for node in ast.walk(ast.parse(source_of(module))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("exset"):
                names = {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
                assert names & listed, f"{module} imports {node.module}"


@pytest.mark.parametrize("module", layout.LIBRARIES)
def test_the_modules_of_libraries_contain_the_version(module: str) -> None:
    assert version(module.split(".")[0]).encode() in source_of(module)
