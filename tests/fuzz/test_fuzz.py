"""Every reader and writer keeps its contract for any bytes; and tests of the fuzzer.

`python -m tests.fuzz` tries more cases. The failing cases that it found are in `tests/regress`, in
a folder for each format, and run here as tests.
"""

import os
import random
import signal
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset import formats
from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.process_pool import Processes
from exset.core.protocols import Model
from exset.core.source import Source
from exset.families.format import Format
from exset.formats import of_files
from exset.testing import fuzz
from exset.testing.contract import check
from exset.testing.counts import read_counts
from exset.testing.fuzz import Fuzzer, build
from exset.testing.mutations import Mutator, minimised
from exset.testing.targets import ReaderTarget, Target, drawn, words
from exset.testing.trials import SLOW, verdict, verdicts
from tests.fuzz import checksums, targets
from tests.fuzz.folders import created, joined, joined_from, separated
from tests.fuzz.provided import PROVIDED
from tests.fuzz.targets import FOLDERS, MEDIA, LabelFile

ROOT = Path(__file__).parents[2]
REGRESS = ROOT / "tests" / "regress"
FOUND = sorted(path for path in REGRESS.rglob("*") if path.is_file())


@cache
def mutator(name: str) -> Mutator:
    return build(targets.get(name), draw=40)


@pytest.fixture(scope="module")
def apart() -> Iterator[Processes]:
    """A process that may crash."""
    processes = Processes(1)
    yield processes
    processes.shutdown(cancel_futures=True)


@pytest.mark.parametrize("fmt", of_files(), ids=lambda fmt: fmt.name)
def test_any_bytes(fmt: Format, apart: Processes) -> None:
    """Damaged files: a model or a FormatError, the same in all engines and in chunks."""
    if fmt.may_crash:
        check_apart(targets.get(fmt.name), apart)
        return
    made = mutator(fmt.name).made

    @given(st.randoms(use_true_random=False), st.none() | st.integers(1, 99))
    def holds(rng: random.Random, step: int | None) -> None:
        check(fmt, made(rng), step=step)

    holds()


@given(st.randoms(use_true_random=False))
def test_any_bytes_for_labels(rng: random.Random) -> None:
    check(LabelFile(), mutator("labels").made(rng))


@pytest.mark.parametrize("target", MEDIA, ids=lambda target: target.name)
def test_any_bytes_for_sounds_and_videos(target: Target) -> None:
    made = mutator(target.name).made

    @given(st.randoms(use_true_random=False))
    def holds(rng: random.Random) -> None:
        assert target.check(made(rng)) in (True, False)

    holds()


@pytest.mark.parametrize("target", FOLDERS, ids=lambda target: target.name)
def test_any_folder(target: Target, apart: Processes) -> None:
    """Caches, HDF5 files, and lists with the files that they name; the library may crash."""
    check_apart(target, apart)


@pytest.mark.parametrize("target", PROVIDED, ids=lambda target: target.name)
def test_any_elements(target: Target, apart: Processes) -> None:
    """Pictures, annotations, sounds and frames, as the loader decodes and augments them."""
    check_apart(target, apart)


def check_apart(target: Target, apart: Processes) -> None:
    """Check damaged files, in another process if the library may crash."""
    fuzzer = Fuzzer(target, mutator(target.name), processes=apart if target.is_deadly else None)

    @given(st.randoms(use_true_random=False), st.integers(0, 99))
    def holds(rng: random.Random, number: int) -> None:
        verdict = fuzzer.tried(mutator(target.name).made(rng), number)
        assert verdict.rule is None or (target.is_deadly and verdict.has_died), verdict

    holds()


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_regressions(path: Path) -> None:
    targets.get(path.parent.name).check(path.read_bytes())


@pytest.mark.parametrize("target", targets.all_targets(), ids=lambda target: target.name)
def test_every_target_has_seeds(target: Target) -> None:
    target.seeds((), 20, 1)  # imports modules: Hypothesis draws constants of all that are imported
    made = target.seeds((), 20, 1)
    assert made and made == target.seeds((), 20, 1)
    assert sum(target.check(data, 1) for data in made) > len(made) // 2


@pytest.mark.parametrize("fmt", of_files(), ids=lambda fmt: fmt.name)
def test_every_format_has_seeds(fmt: Format) -> None:
    drawn(fmt, 20, 1)  # imports modules: Hypothesis draws constants of all that are imported
    made = drawn(fmt, 20, 1)
    assert made == drawn(fmt, 20, 1) != drawn(fmt, 20, 2)
    assert len(made) > 10 and sum(check(fmt, data, deep=False) for data in made) > 10


def test_words_are_those_of_the_grammar() -> None:
    assert {b"proc:", b"[", b"*"} <= set(words(formats.get("ex").reader))
    assert not words(formats.get("bex").reader)


class Faulty:
    """A reader with a different fault for each word."""

    name = "faulty"

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Model:
        data = bytes(source.data)
        if b"key" in data:
            raise KeyError(data)
        if b"slow" in data:
            while True:
                pass
        if b"large" in data:
            return bytearray(200 << 20)
        if b"huge" in data:
            return bytearray(1 << 46)
        if b"other" in data and engine == "table":
            return [1]
        place = Place("x")
        if b"wild" in data:
            findings.add(Finding("wild", Severity.NOTE, "\x9b", place and Place("x\udcff")))
        if b"nowhere" in data:
            raise FormatError("bad")
        if b"beyond" in data:
            raise FormatError("bad", place=Place.in_bytes(Source("x", data), len(data) + 1))
        if data:
            raise FormatError("bad", place=place)
        return []


class FaultyTarget(ReaderTarget):
    def __init__(self) -> None:
        super().__init__(Faulty())

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
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
def test_faults_are_found_and_made_small(word: str, rule: str, tmp_path: Path) -> None:
    room, slow = (0, 0.05) if rule == "slow" else (fuzz.ROOM, SLOW)
    fuzzer = Fuzzer(FaultyTarget(), Mutator([b"so %s it is" % word.encode()]), room=room, slow=slow)
    two_engines = range(0, 9999, 20)
    fuzzer.first = next(number for number in two_engines if word.encode() in fuzzer.case(number))
    [(number, path)] = fuzzer.run(1, tmp_path)
    assert number == fuzzer.first and path.parent == tmp_path / "faulty"
    assert path.name.startswith(rule) and path.read_bytes() == word.encode()
    assert fuzzer.tally.broken.total() == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux to limit the memory")
def test_faults_of_cases_that_are_checked_together() -> None:
    """Each case gets its own verdict, also after one that took too much memory or failed."""
    cases = [(word, 20) for word in (b"good", b"large", b"key", b"good", b"other")]
    found = verdicts(FaultyTarget(), cases, fuzz.ROOM, SLOW)
    assert [each.rule for each in found] == [None, "memory", "raises", None, "engines"]


def test_the_number_of_a_case_selects_its_checks() -> None:
    target = targets.get("csv")
    assert dict(target.rarer) == {"engines": 5, "written": 9, "chunks": 13}
    numbers = range(5 * 9 * 13)
    for rare, every in target.rarer.items():
        assert sum(target.has(rare, number) for number in numbers) == len(numbers) // every
        assert target.has(rare, None)
    assert not any(targets.get("labels").has("written", number) for number in (0, 9, None))


def test_unsafe_messages_are_shown_safely() -> None:
    """exset makes every message safe when it shows it."""
    assert not check(Faulty(), b"wild", engines=("auto",))


def test_a_good_reader_passes(tmp_path: Path) -> None:
    messages: list[str] = []
    fuzzers = [Fuzzer(targets.get(name), mutator(name)) for name in ("ex", "bex")]
    fuzz.fuzz(fuzzers, cases=20, keep=tmp_path, echo=messages.append)
    assert not messages and not list(tmp_path.iterdir())
    assert sum(each.tally.cases for each in fuzzers) == 20
    assert any(each.tally.read for each in fuzzers)
    assert fuzzers[0].case(7) == Fuzzer(targets.get("ex"), mutator("ex")).case(7)


def test_time_ends_it() -> None:
    fuzzer = Fuzzer(FaultyTarget(), Mutator([b"x"]))
    fuzz.fuzz([fuzzer], seconds=0.2)
    assert fuzzer.tally.cases


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=3))
def test_minimised_bytes_still_fail(data: bytes, part: bytes) -> None:
    small = minimised(data + part + data, lambda smaller: part in smaller)
    assert part in small and len(small) == len(part)


@given(st.lists(st.binary(max_size=99), max_size=3), st.randoms(use_true_random=False))
def test_mutations_are_bounded(given: list[bytes], rng: random.Random) -> None:
    assert len(Mutator(given, most=50).made(rng)) <= 100


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command tries the cases in a process of its own, whose memory is limited."""
    options = ["--cases", "10", "--only", "labels", "--keep", str(tmp_path)]
    assert fuzz.main(options, targets.all_targets()) == 0
    shown = capsys.readouterr().out
    assert shown.split()[:3] == ["labels", "10", "cases"] and shown.endswith("nothing broken\n")
    assert not list(tmp_path.iterdir())


class Deadly(Target):
    """A target whose check kills its process."""

    name = "deadly"

    def __init__(self, is_deadly: bool) -> None:
        self.is_deadly = is_deadly

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        return [b"a word that kills"]

    def check(self, data: bytes, number: int | None = None) -> bool:
        if b"kill" in data:
            os.kill(os.getpid(), signal.SIGKILL)
        return True


@pytest.mark.parametrize("is_deadly", [False, True])
def test_a_crash_is_a_fault_unless_another_library_crashed(
    is_deadly: bool, apart: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exset.testing.fuzz.PATIENCE", 1)
    target = Deadly(is_deadly=is_deadly)
    fuzzer = Fuzzer(target, build(target), processes=apart)
    killers = [number for number in range(99) if b"kill" in fuzzer.case(number)]
    count = killers[0] + 2  # the process gets them together
    died = sum(number < count for number in killers)
    found = [*fuzzer.run(count, tmp_path)]
    assert fuzzer.tally.cases == count
    if is_deadly:
        assert not found and fuzzer.tally.died == died
    else:
        number, path = found[0]
        assert number == killers[0] and len(found) == died
        assert path.name.startswith("crash") and b"kill" in path.read_bytes()


def test_folders_are_bytes(tmp_path: Path) -> None:
    """A folder as bytes and back; no entry is outside of the folder."""
    given = {
        "a": b"\n==> ",
        "b/c": b"",
        "b/d@": b"a",
        "p|": b"",
        "e/": b"",
        "../f": b"1",
        "g@": b"../x",
    }
    data = joined(given)
    assert [(os.fsdecode(name), each) for name, each in separated(data)] == [*given.items()]
    with created(data) as folder:
        assert os.readlink(f"{folder}/b/d") == f"{folder}/a"
        assert sorted(os.listdir(folder)) == ["a", "b", "e", "p"]
        assert len(os.listdir(os.path.dirname(folder))) == 1
        assert [*separated(joined_from(folder))] == [
            (b"a", given["a"]), (b"b/c", b""), (b"b/d", given["a"]),
        ]  # fmt: skip
    assert not os.path.exists(folder)


@given(st.binary(max_size=99))
def test_any_bytes_are_a_folder(data: bytes) -> None:
    with created(b"==> a <==\n" + data) as folder:
        assert os.path.exists(f"{folder}/a")


def test_checksums_of_hdf5() -> None:
    """The checksums of good files are correct, and those of changed files are corrected."""
    new = [data for data in targets.get("hdf5_files").seeds((), 40, 1) if b"OHDR" in data]
    assert new and all(checksums.repaired(data) == data for data in new)
    assert checksums.lookup3(b"Four score and seven years ago") == 0x17770551
    broken = new[0].replace(b"OHDR\x02", b"OHDR\x02\x80", 1)
    assert checksums.repaired(broken) != broken


def test_cases_that_reach_something_new_are_kept(tmp_path: Path) -> None:
    corpus, counts = tmp_path / "corpus", tmp_path / "counts.json"
    words = ["--only", "bex", "--cases", "40", "--corpus", str(corpus), "--counts", str(counts)]
    assert fuzz.main(words) == 0
    kept = {path.name for path in (corpus / "bex").iterdir()}
    assert kept
    first = read_counts(counts)
    assert first["bex"]["cases"] == 40 and 0 < first["bex"]["read"] < 40
    assert first["bex"]["engines"] == 8 and 0 < first["bex"]["written"] <= 5
    assert fuzz.main(words) == 0
    assert kept <= {path.name for path in (corpus / "bex").iterdir()}
    second = read_counts(counts)
    assert second["bex"]["cases"] == 80 and second["bex"]["read"] >= first["bex"]["read"]


def test_what_is_reached_is_new_once() -> None:
    processes = Processes(1)
    try:
        target = targets.get("bex")
        good = mutator("bex").seeds[0]
        trials = [
            processes.submit(verdict, target, data, 1, 0, SLOW, watches=True).result()
            for data in (good, good, good[:-1], b"")
        ]
    finally:
        processes.shutdown()
    assert [bool(each.reached) for each in trials] == [True, False, True, True]
