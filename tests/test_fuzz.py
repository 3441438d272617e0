"""Bytes that nobody should trust: every reader and writer is held to its promises, and the fuzzer.

`python -m exset.testing.fuzz` tries as many more as there is time for. What it found is in
`tests/regress`, in a folder for each format, and is tried again here.
"""

import os
import random
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset import formats
from exset.errors import Finding, Findings, FormatError, Place, Severity
from exset.format import Format
from exset.formats import FORMATS
from exset.grammars.labels import Labels
from exset.kernels import Engine
from exset.limits import Limits
from exset.parsers import labels
from exset.protocols import Model
from exset.source import Source
from exset.testing import fuzz, seeds
from exset.testing.contract import check
from exset.testing.fuzz import Fuzzer
from exset.testing.mutations import Mutator, minimised

ROOT = Path(__file__).parent.parent
REGRESS = Path(__file__).parent / "regress"
FOUND = sorted(path for path in REGRESS.rglob("*") if path.is_file())


class LabelFile:
    """Label files, which are no format of their own: only a sample list has a use for them."""

    name = "labels"
    reader = "exset.parsers.labels:parse"

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Labels:
        return labels.parse(source, limits=limits, findings=findings, engine=engine)


@cache
def mutator(name: str) -> Mutator:
    return fuzz.build(formats.get(name), draw=40)


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_any_bytes(known: Format) -> None:
    """Good files made wrong: a model or a FormatError, the same in all engines and in parts."""
    made = mutator(known.name).made

    @given(st.randoms(use_true_random=False), st.none() | st.integers(1, 99))
    def held(rng: random.Random, step: int | None) -> None:
        check(known, made(rng), step=step)

    held()


@given(st.randoms(use_true_random=False))
def test_any_bytes_for_labels(rng: random.Random) -> None:
    known = LabelFile()
    check(known, Mutator([b"a.jpg 1\nb.jpg -2\n", b" x 0\r\n"], seeds.words(known)).made(rng))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
@pytest.mark.parametrize("step", [None, 1, 7])
def test_what_was_found(path: Path, step: int | None) -> None:
    check(formats.get(path.parent.name), path.read_bytes(), step=step)


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_every_format_has_seeds(known: Format) -> None:
    drawn = seeds.drawn(known, 20, 1)
    assert drawn == seeds.drawn(known, 20, 1) != seeds.drawn(known, 20, 2)
    assert len(drawn) > 10 and sum(check(known, data, deep=False) for data in drawn) > 10


def test_words_are_those_of_the_grammar() -> None:
    assert {b"proc:", b"[", b"*"} <= set(seeds.words(formats.get("ex")))
    assert not seeds.words(formats.get("bex"))


class Faulty:
    """A reader with a fault for each sort of bytes."""

    name = "faulty"
    reader = "builtins:none"

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Model:
        data = bytes(source.data)
        if b"key" in data:
            raise KeyError(data)
        if b"slow" in data:
            while True:
                time.sleep(0.01)
        if b"large" in data:
            return bytearray(200 << 20)
        if b"huge" in data:
            return bytearray(1 << 46)
        if b"other" in data and engine == "table":
            return [1]
        place = Place.of("x")
        if b"wild" in data:
            findings.add(Finding("wild", Severity.NOTE, "\x9b", place and Place.of("x\udcff")))
        if b"nowhere" in data:
            raise FormatError("bad")
        if b"beyond" in data:
            raise FormatError("bad", place=Place.in_bytes(Source("x", data), len(data) + 1))
        if data:
            raise FormatError("bad", place=place)
        return []


FAULTS = [
    ("key", "raises"),
    ("other", "engines"),
    ("nowhere", "finding"),
    ("beyond", "finding"),
    ("slow", "slow"),
    *([("large", "memory"), ("huge", "memory")] if sys.platform == "linux" else []),
]


@pytest.mark.parametrize(("word", "rule"), FAULTS)
def test_faults_are_found_and_made_small(
    word: str, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SLOW", 0.05 if rule == "slow" else 20)
    fuzzer = Fuzzer(Faulty(), Mutator([b"so %s it is" % word.encode()]))
    number = next(n for n in range(99) if word.encode() in fuzzer.case(n) and n % 5 == 0)
    path = fuzzer.run(number, tmp_path)
    assert path is not None and path.parent == tmp_path / "faulty"
    assert path.name.startswith(rule) and path.read_bytes() == word.encode()
    assert fuzzer.tally.broken.total() == 1


def test_what_is_wild_is_shown_safely() -> None:
    """The messages are made safe as they are shown, whoever wrote them."""
    assert not check(Faulty(), b"wild", engines=("auto",))


def test_a_good_reader_passes(tmp_path: Path) -> None:
    said: list[str] = []
    fuzzers = [Fuzzer(known, mutator(known.name), room=0) for known in FORMATS[:2]]
    fuzz.fuzz(fuzzers, cases=20, keep=tmp_path, say=said.append)
    assert not said and not list(tmp_path.iterdir())
    assert sum(each.tally.cases for each in fuzzers) == 20
    assert any(each.tally.taken for each in fuzzers)
    assert fuzzers[0].case(7) == Fuzzer(FORMATS[0], mutator("ex")).case(7)


def test_time_ends_it() -> None:
    fuzzer = Fuzzer(Faulty(), Mutator([b"x"]), room=0)
    fuzz.fuzz([fuzzer], seconds=0.2)
    assert fuzzer.tally.cases


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=3))
def test_what_is_minimised_still_fails(data: bytes, part: bytes) -> None:
    small = minimised(data + part + data, lambda given: part in given)
    assert part in small and len(small) == len(part)


@given(st.lists(st.binary(max_size=99), max_size=3), st.randoms(use_true_random=False))
def test_mutations_are_bounded(given: list[bytes], rng: random.Random) -> None:
    assert len(Mutator(given, most=50).made(rng)) <= 100


def test_the_command(tmp_path: Path) -> None:
    """It runs in a process of its own, whose memory is bounded."""
    command = [sys.executable, "-m", "exset.testing.fuzz", "--cases", "100", "--format", "ex"]
    run = subprocess.run(
        [*command, "--keep", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.split()[:3]) == (0, ["ex", "100", "cases"]), run.stderr
    assert run.stdout.endswith("nothing broken\n") and not list(tmp_path.iterdir())
