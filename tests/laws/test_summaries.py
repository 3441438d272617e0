"""Summaries of files in chunks are those of whole files, as text and as JSON, for any chunks."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, formats, samples, streaming
from exset.core.protocols import Model
from exset.families.family import load
from exset.families.format import Format
from exset.io.blocks import Blocks
from exset.runtime.reports.distinct import Distinct
from exset.runtime.reports.statistics import RunningSpread
from tests.cli.command_line import run

STREAMED = [fmt for fmt in formats.FORMATS if fmt.streamer is not None and not fmt.is_folder]


def summaries(fmt: Format, chunks: Iterable[Model]) -> list[object]:
    models = list(chunks)
    found = [fmt.family.summarise(models, detailed=detailed) for detailed in (False, True)]
    # How columns of one or two units are stored depends on the chunks: see test_memory.
    return [
        (
            [row for row in each.rows() if row[0] != "memory"],
            {name: value for name, value in each.to_dict().items() if name != "memory"},
        )
        for each in found
    ]


def assert_same(fmt: Format, data: bytes, size: int) -> bool:
    try:
        whole = summaries(fmt, [exset.loads(data, format=fmt.name, findings=Findings())])
    except FormatError:
        return False
    slices = (data[at : at + size] for at in range(0, len(data), size))
    chunks = fmt.stream(Blocks("x", slices, None, is_pipe=True), findings=Findings())
    assert summaries(fmt, chunks) == whole
    return True


@pytest.mark.parametrize("fmt", STREAMED, ids=lambda fmt: fmt.name)
@given(data=st.data(), size=st.integers(1, 60))
def test_any_model(fmt: Format, data: st.DataObject, size: int) -> None:
    assert fmt.strategy is not None
    model = data.draw(load(fmt.strategy)())  # type: ignore[operator]
    try:
        written = fmt.write(model, findings=Findings())
    except FormatError:  # the format cannot hold the model
        return
    assert_same(fmt, written, size)


@pytest.mark.parametrize("name", samples.names())
def test_samples(name: str) -> None:
    source = samples.read(name)
    fmt = exset.detect(source.name)
    if fmt.streamer is not None:
        assert assert_same(fmt, source.data, 7)


@pytest.mark.parametrize("name", samples.names())
@pytest.mark.parametrize("detailed", [False, True])
def test_no_label_is_repeated(name: str, detailed: bool) -> None:
    model = exset.load(samples.PREFIX + name, findings=Findings())
    rows = formats.family_of(model).summarise([model], detailed=detailed).rows()
    labels = [label for label, _ in rows if label]
    assert len(set(labels)) == len(labels) and rows[0][0]


def test_fields_have_the_words_of_lens() -> None:
    examples = exset.loads("max: 4 defI: - actT: 0.5; I: 1;", model=exset.ExampleSet)
    assert ("header", "max: 4, defI: -, actT: 0.5") in exset.stats(examples).rows()


FILES = {
    "manifest": b"@FILE\tASCII_INT\n" + b"".join(b"%d.jpg\t%d\n" % (n, n % 9) for n in range(3000)),
    "ex": b"".join(b"name:n%d 2 I: %d 0 T: 1; I: (g) 4 t: 2-3;\n" % (n, n) for n in range(1000)),
}
FILES["bex"] = exset.dumps(exset.loads(FILES["ex"], format="ex"), format="bex")


@pytest.mark.parametrize("name", FILES)
def test_memory(name: str) -> None:
    fmt, data = formats.get(name), FILES[name]
    whole = fmt.family.summarise([exset.loads(data, format=name)]).to_dict()
    slices = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    chunks = list(fmt.stream(Blocks("x", slices, len(data)), findings=Findings()))
    assert len(chunks) > 4 or name == "bex"
    assert fmt.family.summarise(chunks).to_dict() == whole


@pytest.mark.parametrize("name", FILES)
def test_large_files(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the commands print does not depend on whether a file is read in chunks."""
    Path("x").write_bytes(FILES[name])
    Path("bad").write_bytes(FILES[name][:-2] + b"@")
    commands = [
        (verb, "--from", name, file, *more)
        for verb in ("info", "stats", "validate")
        for file in ("x", "bad")
        for more in ((), ("--json",))
    ]
    whole = [run(*command) for command in commands]
    monkeypatch.setattr(streaming, "SMALL", 0)
    monkeypatch.setattr(streaming, "_BLOCK", 4096)
    for command, expected in zip(commands, whole, strict=True):
        found = run(*command)
        assert (found.exit_code, found.stdout) == (expected.exit_code, expected.stdout)


def test_the_corpus(corpus: Path) -> None:
    seen = 0
    for path in sorted(corpus.rglob("*")):
        if path.suffix in (".ex", ".bex", ".tsv", ".csv") and path.stat().st_size < 20_000:
            data = path.read_bytes()
            for fmt in STREAMED:
                if path.name.endswith(fmt.suffixes):
                    seen += assert_same(fmt, data, 500)
    assert seen > 150


@given(st.lists(st.floats(width=32), max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_a_spread_in_chunks(values: list[float], cuts: list[int]) -> None:
    many = np.resize(np.array(values, np.float32), 70_000 if values else 0)
    for numbers, scale in ((np.array(values, np.float32), 1), (many, 3000)):
        spread, whole = RunningSpread(), RunningSpread()
        whole.add(numbers)
        for part in np.split(numbers, sorted(cut * scale for cut in cuts)):
            spread.add(part)
        found, expected = spread.result(), whole.result()
        assert str(found) == str(expected)
        exact = [Fraction(float(value)) for value in numbers[np.isfinite(numbers)][:1000]]
        if exact and numbers.size < 1000:
            assert found[0].mean == float(sum(exact) / len(exact))
            apart = sum(each * each for each in exact) - sum(exact) ** 2 / len(exact)
            assert found[0].squares == float(apart)


def test_distinct_values_in_chunks() -> None:
    found = Distinct()
    for start in range(0, 200_000, 1000):
        found.add(b"%d" % (n % 150_000) for n in range(start, start + 3000))
    assert found.count() == 150_000
    assert Distinct().count() == 0
