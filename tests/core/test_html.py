"""What notebooks show of models: bounded, escaped, and quick however much there is."""

from collections.abc import Iterator
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import Dense, Event, Example, ExampleSet, Manifest, SampleList
from exset.core.html import table
from exset.core.text import safe
from exset.grammars.aeon.block import Block
from exset.testing import example_sets

HOSTILE = "<script>alert('&')</script>\x1b[31m\x00\u202e\"\udcff"


class Page(HTMLParser):
    """Reads the cells back, and sees that only tags of tables are there, each with its end."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open
        assert safe(html) == html and len(html) < 40_000

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in ("div", "p", "table", "thead", "tbody", "tr", "th", "td") and not attributes
        self.open.append(tag)
        if tag in ("p", "th", "td"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("p", "th", "td"):
            self.cells[-1] += data


def page(model: object) -> Page:
    html = model._repr_html_()  # type: ignore[attr-defined]
    assert isinstance(html, str)
    return Page(html)


def test_a_set() -> None:
    cells = page(exset.load("exset::groups.ex")).cells
    assert cells[0].startswith("ExampleSet(3 examples, 3 events, groups: ")
    assert cells[7:11] == ["0", "cat", "23", "1"]
    assert cells[11].startswith("sparse 'onset' 1: 2, sparse 'vowel' 1: 0")
    assert page(ExampleSet.from_examples([])).cells[0] == "ExampleSet(0 examples, 0 events)"


def test_results() -> None:
    """Statistics, differences, findings, examples, events and arrays have their places."""
    examples = ExampleSet.from_examples(
        [Example([Event(Dense([1.0, 2.0], group=HOSTILE), Dense([0.5]))], name=HOSTILE)]
    )
    statistics = page(exset.stats(examples)).cells
    assert statistics[0] == "statistics" and "examples" in statistics
    other = examples.with_columns(frequency=[2.0])
    found = page(exset.diff(examples, other)).cells
    assert found[0] == "1 of 1 examples differ" and "examples[0].frequency" in found
    assert page(exset.diff(other, other)).cells[0] == "equal in meaning"
    findings = exset.Findings()
    exset.loads(b"[max:] I: 1 0 T: 1;", findings=findings, name=HOSTILE)
    cells = page(findings).cells
    assert safe(HOSTILE) + ":1:5" in cells or any(safe(HOSTILE) in cell for cell in cells)
    assert "lens-missing-value" in cells
    assert any(safe(repr(HOSTILE)) in cell for cell in page(examples[0]).cells)
    assert "inputs" in page(examples[0].events[0]).cells
    arrays = exset.to_arrays(examples, findings=exset.Findings())
    cells = page(arrays).cells
    assert cells[-5:] == ["0", "0", "0", "1 2", "0.5"]
    assert page(arrays.by_example()).cells


@given(example_sets(max_examples=3))
def test_any_set(examples: ExampleSet) -> None:
    assert page(examples).cells[0]


def test_a_list() -> None:
    cells = page(exset.load("exset::molecules.sample_list", model=SampleList, ids="integer")).cells
    assert cells[0] == "SampleList(MULTI-SAMPLE_INCLUSION_V2, 1,012 samples of 2 files)"
    assert cells[1:5] == ["file", "included", "excluded", "ids"]
    assert cells[8] == "0 ... 9, 20, 22", "spans are as they are"


def test_the_others() -> None:
    cells = page(exset.load("exset::pictures.tsv", model=Manifest)).cells
    assert cells[0].startswith("Manifest(6 records") and cells[-3:-1] != ["", ""]
    cells = page(Block.of([[b"ab", b"c"]] * 20)).cells
    assert cells[3:5] == ["rec_0000000.00", "2"] and cells[-1] == "and 30 more"
    cells = page(exset.Schema.of({"a": {"b": {"metadata": {"scale": 2, "units": "<m>"}}}})).cells
    assert cells == ["Schema(1 field)", "field", "metadata", "a/b", "scale: 2, units: '<m>'"]
    assert page(exset.Schema.of(None)).cells[0] == "Schema(0 fields)"
    config = {"manifest_filename": "a", "batch_size": 2, "etl": ({"type": "label"},)}
    cells = page(exset.LoaderConfig.from_dict({**config, "decode_thread_count": 0})).cells
    assert cells[0].endswith("1 column)") and cells[3] == "label"


def test_names_do_no_harm() -> None:
    event = Event(Dense([1.0], group=HOSTILE[:30]))
    for model in (
        ExampleSet.from_examples([Example([event], name=HOSTILE.replace("\0", ""))]),
        Manifest.of(["FILE"] * 20, [[HOSTILE.replace("\0", "")] * 20]),
        SampleList.of("SINGLE-SAMPLE", "/", [("<b>&\x1b\udcff",)], label_file="a"),
        Block.archive([(HOSTILE.replace("\0", "").encode("utf-8", "surrogateescape"), b"x")]),
        exset.Schema.of({HOSTILE: {"metadata": {HOSTILE: HOSTILE}}}),
    ):
        said = "".join(page(model).cells)
        assert "<" in said and "\\x1b" in said and "\\xff" in said


def test_little_is_looked_at() -> None:
    """Of a million rows the first; of spans of a million numbers none is expanded."""
    asked: list[int] = []

    def rows() -> Iterator[tuple[int]]:
        for number in range(10**6):
            asked.append(number)
            yield (number,)

    assert Page(table("many", ("",), rows(), 10**6)).cells[-1] == "and 999,990 more"
    assert len(asked) == 10
    spans = "MULTI-SAMPLE_INCLUSION_V2\n1000000000000000 1\n/d\na.h5 1000000000000000 "
    endless = exset.loads(spans + "1 ... 1000000000000000\n", model=SampleList, ids="integer")
    assert page(endless).cells[-1] == "1 ... 1000000000000000"
    long = ExampleSet.from_arrays(np.ones((2, 500_000), np.float32), None, names=["x" * 10**6] * 2)
    assert max(map(len, page(long).cells)) <= 240
    wide = Manifest.of(["STRING"] * 5000, [["x" * 1000] * 5000] * 20)
    cells = page(wide).cells
    assert len(cells) == 1 + 11 * 11 + 1 and cells[-1] == "and 10 more"


@pytest.mark.parametrize("cells, shown", [(10, False), (11, True)])
def test_wide_rows(cells: int, shown: bool) -> None:
    assert ("…" in table("", [""] * cells, [["a"] * cells], 1)) == shown
