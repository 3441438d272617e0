"""Pictures of examples: their rows, cells and names, and their limited size."""

import csv
import math
import os
import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from numpy.typing import NDArray

import exset
from exset import Dense, Event, Example, ExampleSet, FormatError, LimitError, Sparse
from exset.runtime.lens.pictures import units
from exset.runtime.lens.plot_rows import CELLS, ROWS, picture_rows
from exset.runtime.pictures.drawing import figure, write
from exset.runtime.pictures.options import PictureOptions
from tests.cli import command_line
from tests.lens.test_corpus import load as load_file

HOSTILE = "$\\frac{$ <b>&\x1b[31m\n\u202e\udc80" + "x" * 10_000


@pytest.fixture(scope="module")
def matplotlib() -> ModuleType:
    """Return the optional matplotlib, which .ci/run installs."""
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    import matplotlib

    return matplotlib


def sample(name: str) -> ExampleSet:
    return exset.load(f"exset::{name}", model=ExampleSet)


def run(*arguments: str) -> Result:
    return command_line.run("plot", *arguments)


def test_rows_of_events() -> None:
    examples = sample("pulse.ex")
    shown = picture_rows(examples, np.array([3, 0]))
    assert shown.cut is None
    assert shown.labels == ["nothing  0", "1", "left  0", "1", "2"]
    assert shown.heads.tolist() == [0, 2]
    arrays = exset.to_arrays(examples)
    np.testing.assert_array_equal(shown.arrays.inputs, arrays.inputs[[10, 11, 0, 1, 2]])
    assert picture_rows(sample("xor.ex")).labels == ["00", "01", "10", "11"]
    unnamed = ExampleSet.from_arrays(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32))
    assert picture_rows(unnamed, np.array([2, -1])).labels == ["2", "3"], "their indices"


def test_rows_of_ticks() -> None:
    examples = sample("pulse.ex")
    shown = picture_rows(examples, np.array([0]), ticks=4)
    ticked = exset.to_arrays(examples.select([0])).by_tick(4)
    assert shown.cut is None
    np.testing.assert_array_equal(shown.arrays.target_mask, ticked.target_mask)
    assert [label for label in shown.labels if label] == ["left  0", "1", "2"]
    cut = picture_rows(examples, ticks=30)
    assert len(cut.arrays) == ROWS and cut.cut == "the first 200 ticks: 2 of 4 examples"
    expected = exset.to_arrays(examples).by_tick(30)
    np.testing.assert_array_equal(cut.arrays.scored, expected.scored[:ROWS])
    np.testing.assert_array_equal(cut.arrays.targets, expected.targets[:ROWS])
    with pytest.raises(ValueError, match="ticks"):
        picture_rows(examples, ticks=0)


@pytest.mark.parametrize("time, grace", [(math.inf, 0.0), (1e30, 1e30), (1e9, 2.5)])
def test_ticks_without_end(time: float, grace: float) -> None:
    examples = ExampleSet.from_examples(
        [Example([Event(Dense([1.0]), Dense([1.0]), max_time=time, grace_time=grace)])] * 3
    )
    shown = picture_rows(examples, ticks=4)
    assert len(shown.arrays) == ROWS and shown.cut is not None
    assert int(shown.arrays.scored.sum()) == (ROWS - 10 if grace == 2.5 else 0 if grace else ROWS)


def test_rows_are_bounded() -> None:
    """A picture has a limited number of rows, and fewer with very many units."""
    many = ExampleSet.from_arrays(np.ones((100_000, 3), np.float32), np.ones((100_000, 1), "f4"))
    shown = picture_rows(many)
    assert len(shown.arrays) == ROWS == len(shown.names)
    assert shown.cut == "the first 200 events: 200 of 100,000 examples"
    events = [Event(Dense([k])) for k in range(1, 1000)]
    shown = picture_rows(ExampleSet.from_examples([Example(events[:4]), Example(events)]))
    assert len(shown.arrays) == ROWS
    assert shown.cut == "the first 200 events: 2 of 2 examples"
    assert shown.arrays.inputs.ravel().tolist() == [*range(1, 5), *range(1, 197)]
    wide = ExampleSet.from_examples([Example([Event(Sparse([CELLS // 2 - 1]))])] * 9)
    assert len(picture_rows(wide).arrays) == 2
    with pytest.raises(LimitError, match="too many for a picture"):
        picture_rows(wide, inputs=CELLS + 1)
    assert len(picture_rows(wide, targets={"a": 2}, inputs=CELLS - 2).arrays) == 1
    with pytest.raises(ValueError, match="no examples"):
        picture_rows(ExampleSet.from_examples([]), inputs=2)
    with pytest.raises(ValueError, match="no units"):
        picture_rows(ExampleSet.from_examples([Example([Event()])]))
    with pytest.raises(IndexError):
        picture_rows(wide, np.array([9]))


def test_rows_of_real_files(corpus: Path) -> None:
    seen = 0
    with (corpus / "lens" / "oracle.tsv").open(newline="") as table:
        paths = [row["path"] for row in csv.DictReader(table, delimiter="\t", quoting=3)]
    for name in paths:
        try:
            examples = load_file(corpus / "lens" / "files" / name, "auto")
            arrays = exset.to_arrays(examples, findings=exset.Findings())
        except FormatError:
            continue
        if len(arrays) and arrays.input_layout.units + arrays.target_layout.units:
            shown = picture_rows(examples)
            np.testing.assert_array_equal(shown.arrays.inputs, arrays.inputs[:ROWS])
            np.testing.assert_array_equal(shown.arrays.targets, arrays.targets[:ROWS])
            assert len(shown.labels) == min(ROWS, len(arrays))
            seen += 1
    assert seen > 100


@pytest.mark.usefixtures("matplotlib")
def test_what_is_drawn() -> None:
    drawn = figure(units(sample("groups.ex"), PictureOptions()), "a title")
    inputs, targets, *_ = drawn.axes
    arrays = exset.to_arrays(sample("groups.ex"))
    np.testing.assert_array_equal(inputs.images[0].get_array(), arrays.inputs)
    cells = np.ma.getmaskarray(np.ma.asarray(targets.images[0].get_array()))
    np.testing.assert_array_equal(cells, ~arrays.target_mask)
    assert [text.get_text() for text in inputs.texts] == ["onset", "vowel", "coda"]
    assert [text.get_text() for text in inputs.get_yticklabels()] == ["cat", "bee", "new word"]
    words = [text.get_text() for text in drawn.texts]
    assert words == ["inputs", "targets", "a title"]


@pytest.mark.usefixtures("matplotlib")
def test_no_unit_and_no_number_gets_lost() -> None:
    """Draw more units than the picture has columns, infinity, and numbers of both signs."""
    events = [Event(Sparse([4321]), Dense([-1.0, math.inf, math.nan, 3e38, -3e38]))] * 2
    examples = ExampleSet.from_examples([Example(events)])
    shown = units(examples, PictureOptions(inputs=5000))
    inputs, targets, *_ = figure(shown).axes
    cells: NDArray[Any] = np.ma.asarray(inputs.images[0].get_array())
    assert cells.shape[1] < 800 and cells.sum(axis=1).tolist() == [1, 1]
    row: Any = np.ma.asarray(targets.images[0].get_array())[0]
    assert row.mask.tolist() == [False, False, True, False, False]
    assert row[1] == row[3] == -row[4] == targets.images[0].norm.vmax


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_names_do_no_harm(matplotlib: ModuleType, tmp_path: Path, suffix: str) -> None:
    """Names are never formulas, whatever the user's styles are, and have a limited length."""
    from matplotlib.text import Text

    group = Sparse([0, 2], group=HOSTILE[:-10_000])
    examples = ExampleSet.from_examples([Example([Event(group, group)], name=HOSTILE)])
    shown = units(examples, PictureOptions())
    assert len(shown.labels[0]) == 32 and "\\x1b" in shown.labels[0]
    with matplotlib.rc_context({"text.usetex": True, "text.parse_math": True}):
        drawn = figure(shown, HOSTILE)
        path = tmp_path / f"out.{suffix}"
        write(shown, path, HOSTILE)
        texts = [text for text in drawn.findobj(Text) if text.get_text()]
        assert matplotlib.rcParams["text.usetex"], "the user's own"
    assert len(texts) > 10
    assert not any(text.get_parse_math() or text.get_usetex() for text in texts)
    data = path.read_bytes()
    assert data.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix])
    write(shown, path, HOSTILE)
    assert path.read_bytes() == data, "the same each time"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.usefixtures("matplotlib")
def test_the_verb(tmp_path: Path) -> None:
    many = ExampleSet.from_arrays(np.ones((5_000, 40), "f4"), np.ones((5_000, 3), "f4"))
    exset.save(many, tmp_path / "many.bex")
    out = str(tmp_path / "out.png")
    result = run(str(tmp_path / "many.bex"), "-o", out)
    assert result.exit_code == 0 and "200 of 5,000 examples" in result.stderr, result.stderr
    size = struct.unpack(">II", Path(out).read_bytes()[16:24])
    assert max(size) <= 2000
    groups = ("--inputs", "vowel=6", "--inputs", "onset=9", "--targets", "stress=1")
    chosen = ("-e", "-1", "-e", "c*", "-e", "0:2")
    result = run("exset::groups.ex", "-o", out, *groups, *chosen)
    assert result.exit_code == 0 and result.stderr.endswith("out.png: inputs and targets\n")
    assert "lens-group-missing" in result.stderr
    result = run("exset::pulse.ex", "-o", str(tmp_path / "out.pdf"), "--ticks", "4")
    assert result.exit_code == 0 and result.stderr.endswith("out.pdf: inputs and targets\n")
    (tmp_path / "odd.txt").write_text("I: 1 0 T: 1;")
    result = run(str(tmp_path / "odd.txt"), "-o", out, "--from", "ex")
    assert result.exit_code == 0 and result.stderr.endswith("out.png: inputs and targets\n")


@pytest.mark.parametrize(
    "arguments, code, shown",
    [
        (("exset::xor.ex", "-o", "out.jpg"), 1, ".png, .svg, .pdf"),
        (("exset::xor.ex", "-o", "-"), 1, "[file-name]"),
        (("exset::flowers.sample_list", "-o", "out.png", "--picture", "pca"), 2, "sample list"),
        (("exset::xor.ex", "-o", "out.png", "-e", "no*"), 2, "no*"),
        (("exset::xor.ex", "-o", "out.png", "-e", "4"), 2, "4"),
        (("exset::xor.ex", "-o", "out.png", "-e", "-5"), 2, "-5"),
        (("exset::xor.ex", "-o", "out.png", "-e", "::0"), 2, "step"),
        (("exset::xor.ex", "-o", "out.png", "--inputs", "a"), 2, "GROUP=SIZE"),
        (
            ("exset::xor.ex", "-o", "out.png", "--inputs", "1"),
            1,
            "(examples[0].events[0].inputs[0])",
        ),
        (("exset::xor.ex", "-o", "out.png", "--inputs", "3", "--inputs", "3"), 2, "GROUP=SIZE"),
        (("exset::xor.ex", "-o", "no/such/out.png"), 3, "No such file"),
        (("none.ex", "-o", "out.png"), 3, "none.ex"),
    ],
)
def test_failures_leave_the_old_picture(
    matplotlib: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    shown: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.png").write_bytes(b"old")
    result = run(*arguments)
    assert (result.exit_code, shown in result.stderr) == (code, True), result.stderr
    assert (tmp_path / "out.png").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.png"]


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("exset::xor.ex", "-o", str(tmp_path / "out.png"))
    assert result.exit_code == 2 and "pip install 'exset[plot]'" in result.stderr
    assert not os.listdir(tmp_path)


@pytest.mark.usefixtures("matplotlib")
def test_no_display_is_needed(tmp_path: Path) -> None:
    """exset imports neither pyplot, which has global state, nor a toolkit."""
    code = (
        "import sys; from exset.cli import main; sys.argv = ['exset', 'plot', 'exset::xor.ex', "
        f"'-o', {str(tmp_path / 'out.png')!r}]\n"
        "try: main()\nfinally: print(*(m for m in sys.modules if 'pyplot' in m or 'tk' in m))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
