"""The driver against the reference driver: equal streams, or equal errors, on any bytes."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core import disk_cache
from exset.parsers.engine import grammar as engine
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.tables import Lowered
from exset.parsers.lbann.list_tokens import GRAMMARS as SAMPLE_LISTS
from exset.parsers.lens.steps import EXAMPLE
from exset.parsers.lens.tokens import GRAMMAR
from tests.core.sources import edit, source_of
from tests.parsers.drivers import LENS_PIECES, driven, judged, stream_of
from tests.parsers.foreign_grammars import ARITHMETIC, INI, JSON

LIST_PIECES = (
    b"single-sample conduit_hdf5_exclusion MULTI-SAMPLE_INCLUSION Multi-sample_inclusion_V2 \n \n "
    b"\n conduit_hdf5_inclusion\n2 3 1\nd\nf multi 1 +2 -3 4x . ... \r \t a.h5 \xff \xa0 \0"
).split(b" ")
JSON_PIECES = b'{ } [ ] , : "a" " \\u00e9 \\ 1 -0.5e3 01 true nul null \n tru \xff'.split(b" ")
SUM_PIECES = b"1 2.5 . a sin sine cos ( ) + - * / \n ! si".split(b" ")
INI_PIECES = b"[ ] a = b\t ; \n \r\n \t x1 1 c=d;e [s]\n".split(b" ")


def sources(pieces: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(pieces) | st.just(b" "), max_size=25).map(b"".join)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("grammar", "pieces"),
    [
        (GRAMMAR, LENS_PIECES),
        *((each, LIST_PIECES) for each in SAMPLE_LISTS.values()),
        (JSON, JSON_PIECES),
        (ARITHMETIC, SUM_PIECES),
        (INI, INI_PIECES),
    ],
    ids=["lens", "sample_list", "hdf5_list", "image_list", "json", "arithmetic", "ini"],
)
@given(data=st.data())
def test_both_drivers_agree(
    grammar: Grammar, pieces: Sequence[bytes], compiled: bool, data: st.DataObject
) -> None:
    source = data.draw(sources(pieces) | st.binary(max_size=30))
    judgement = judged(grammar, source)
    assert driven(grammar, [source], compiled=compiled) == judgement
    # In blocks of any size, with room for few tokens, in chunks that end with a step.
    size = data.draw(st.integers(1, 9))
    blocks = [source[at : at + size] for at in range(0, len(source), size)]
    tokens = data.draw(st.sampled_from([1, 2, 7, 64]))
    boundary = data.draw(st.sampled_from([None, 0, 3, EXAMPLE]))
    again = driven(grammar, blocks, compiled=compiled, tokens=tokens, boundary=boundary)
    assert again == judgement


def test_real_files_and_damaged_ones(corpus: Path) -> None:
    random = np.random.default_rng(7)
    paths = sorted((corpus / "lens" / "edge").glob("*.ex"))
    assert len(paths) > 150
    for path in paths:
        source = path.read_bytes()[:4000]
        at = int(random.integers(len(source) + 1))
        for damaged in (source, source[:at], source[:at] + source[at + 1 :]):
            judgement = judged(GRAMMAR, damaged)
            for compiled in (False, True):
                assert driven(GRAMMAR, [damaged], compiled=compiled) == judgement, path.name


@pytest.mark.parametrize("compiled", [False, True])
def test_deep_nesting_and_long_tokens(compiled: bool) -> None:
    for source in (
        b"name:" + b"{" * 3000 + b"}" * 3000 + b";",
        b"name:" + b"{" * 3000,
        b"name:" + b"n" * 5000 + b" ;",
        b"I:" + b"1 " * 3000 + b"@",
    ):
        blocks = [source[at : at + 100] for at in range(0, len(source), 100)]
        assert driven(GRAMMAR, blocks, compiled=compiled, tokens=8) == judged(GRAMMAR, source)


def test_meaning_of_json() -> None:
    source = b'{"a": [1, 2.5e3, {"b": null}], "c": "\\u00e9", "d": true}'
    json.loads(source)
    stream = stream_of(JSON, source)
    names = [(JSON.steps or ())[step] for step in stream.steps]
    assert names.count("pair") == 4
    assert names[-1] == "object"
    assert "true" in names


def test_a_string_terminal_replaces_the_word_that_it_equals() -> None:
    for source, step in ((b"sin(1)", "call"), (b"sine", "name")):
        stream = stream_of(ARITHMETIC, source)
        assert (ARITHMETIC.steps or ())[stream.steps[-1]] == step


@pytest.mark.parametrize(
    ("terminal", "what"),
    [
        ("/^a/", "an anchor"),
        ("/(?<=b)a/", "a lookbehind or a word boundary"),
        ("/(?!bc)a/", "a lookaround"),
        ("/a(?=bc)/", "a lookaround"),
        (r"/(a)\1/", "a back-reference"),
        ("/a++b/", "a possessive quantifier"),
        ("/(?>a+)b/", "an atomic group"),
    ],
)
def test_terminals_that_are_not_regular_are_refused(terminal: str, what: str) -> None:
    grammar = Grammar(file="x", start="start", steps=(), text=f"start: X\nX: {terminal}")
    with pytest.raises(ValueError, match=f"terminal X has {what}"):
        _ = grammar.lowered


def test_grammars_whose_terminals_collide_are_refused() -> None:
    grammar = Grammar(file="x", start="start", steps=(), text="start: A | B\nA: /a+/\nB: /[ab]+/")
    with pytest.raises(Exception, match="Collision"):
        _ = grammar.lowered


def test_the_cache_of_grammars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path))
    text = 'start: A*\nA: "\\x00"'
    first = Grammar(file="x", start="start", steps=(), text=text).lowered
    [stored] = tmp_path.glob("grammars/*")
    key = f"grammars/{stored.name}"
    again = Lowered.from_bytes(disk_cache.load(key) or b"")
    assert (again.terminals, again.literals, again.steps) == (("A",), ("\0",), ("start",))
    for name, array in first.tables._asdict().items():
        assert np.array_equal(getattr(again.tables, name), array)
    whole = stored.read_bytes()
    flipped = whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]
    for broken in (b"", b"no tables", whole[:-30], flipped):
        stored.write_bytes(broken)
        assert Grammar(file="x", start="start", steps=(), text=text).lowered.terminals == ("A",)
        assert Lowered.from_bytes(disk_cache.load(key) or b"").literals == ("\0",)
    other = Grammar(file="x", start="start", steps=(), text=text.replace("0", "1"))
    assert len(list(tmp_path.glob("grammars/*"))) == 1
    _ = other.lowered
    assert len(list(tmp_path.glob("grammars/*"))) == 2


def test_the_tables_do_not_depend_on_the_hashes_of_strings(tmp_path: Path) -> None:
    """A state that rules reduce to must not have the number 0, which stands for none."""
    code = "from exset.parsers.lbann.labels import GRAMMAR; GRAMMAR.lowered"
    for seed in ("1", "6", "7"):
        changed = {"PYTHONHASHSEED": seed, "EXSET_CACHE": str(tmp_path / seed)}
        subprocess.run([sys.executable, "-c", code], env={**os.environ, **changed}, check=True)
    first, *others = (path.read_bytes() for path in tmp_path.rglob("*.tables"))
    assert others == [first, first]


@pytest.mark.parametrize("module", [*engine.MODULES, *engine.LIBRARIES])
def test_another_engine_or_library_lowers_again(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = GRAMMAR.cache_name
    assert replace(GRAMMAR).cache_name == before
    edit(module, tmp_path, monkeypatch)
    assert replace(GRAMMAR).cache_name != before


@pytest.mark.parametrize("module", engine.LIBRARIES)
def test_the_named_modules_of_libraries_have_their_versions(module: str) -> None:
    assert version(module.split(".")[0]).encode() in source_of(module)


def test_no_cache_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path / "file" / "x"))
    grammar = Grammar(file="x", start="start", steps=(), text="start: A*\nA: /a/")
    assert grammar.lowered.terminals == ("A",)
