"""Pictures of every family: what they show, their size, and that names do no harm."""

import struct
from pathlib import Path
from types import ModuleType

import h5py
import numpy as np
import pytest

import exset
from exset import ExampleSet, FormatError, formats
from exset.plotting import of_model, title_of
from exset.runtime.pictures.drawing import write
from exset.runtime.pictures.kinds import Bars, Composition, ContactSheet, Grid, HeatMap, Timeline
from exset.runtime.pictures.options import PictureOptions
from tests.cli.command_line import run

HOSTILE = "$\\frac{$ <b>&\x1b[31m\n\u202e\udc80"


@pytest.fixture(scope="module")
def matplotlib() -> ModuleType:
    """Return the optional matplotlib, which .ci/run installs."""
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    import matplotlib

    return matplotlib


def size_of(path: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


def digits() -> ExampleSet:
    values = np.random.default_rng(1).random((12, 16), np.float32)
    return ExampleSet.from_arrays(values, np.eye(12, 4, dtype=np.float32))


def test_every_family_names_its_pictures() -> None:
    from exset.cli.plot import OTHERS, PICTURES

    known = {name for family in formats.families() for name, _ in family.pictures}
    assert known | {"batches"} == {*PICTURES, *OTHERS}


@pytest.mark.parametrize("picture", ["timeline", "grid", "similarity", "dendrogram", "pca"])
def test_every_picture_of_numbers(matplotlib: ModuleType, tmp_path: Path, picture: str) -> None:
    source, out = tmp_path / "digits.ex", tmp_path / "out.svg"
    exset.save(digits(), source)
    done = run("plot", str(source), "-o", str(out), "--picture", picture, "-q")
    assert done.exit_code == 0, done.stderr
    drawn = exset.plot(digits(), picture, findings=exset.Findings())
    labels = [text.get_text() for axes in drawn.axes for text in axes.get_yticklabels()]
    labels += [text.get_text() for axes in drawn.axes for text in axes.texts]
    assert "11" in labels
    data = out.read_bytes()
    write(of_model(digits(), picture, PictureOptions()), out, "digits.ex")
    assert out.read_bytes() == data, "the same each time"


@pytest.mark.usefixtures("matplotlib")
def test_pictures_are_small_unless_asked(tmp_path: Path) -> None:
    names = ["a name that is long " * 9 + str(number) for number in range(400)]
    values = np.random.default_rng(2).normal(size=(400, 300)).astype(np.float32)
    many = ExampleSet.from_arrays(values, values, names=names, input_group="group " * 50)
    path, out = tmp_path / "many.bex", tmp_path / "out.png"
    exset.save(many, path)
    for picture in ("units", "similarity"):
        done = run("plot", str(path), "-o", str(out), "--picture", picture)
        assert done.exit_code == 0 and max(size_of(out)) <= 2000, done.stderr
        assert "200" in done.stderr and "(--examples selects)" in done.stderr
    done = run("plot", str(path), "-o", str(out), "--pixels", "300")
    assert done.exit_code == 0 and max(size_of(out)) <= 300
    done = run("plot", str(path), "-o", str(out), "--pixels", "6000")
    assert done.exit_code == 0 and 2000 < max(size_of(out)) <= 6000


def test_titles() -> None:
    """A title is the name of the file, however long its folder is."""
    assert title_of("/a/" + "b/" * 90 + "train.ex") == "train.ex"
    assert title_of("exset::xor.ex") == "xor.ex" and title_of("-") == ""
    assert title_of("https://host/x/y.bex.gz") == "y.bex.gz" and title_of("cache/") == "cache"


def test_cells_are_the_activations() -> None:
    examples = exset.load("exset::pulse.ex", model=ExampleSet)
    arrays = exset.to_arrays(examples, findings=exset.Findings())
    shown = of_model(examples, "grid", PictureOptions(grid=(1, 2), side="targets"))
    assert isinstance(shown, Grid)
    np.testing.assert_array_equal(shown.valid.reshape(-1, 2), arrays.target_mask)
    np.testing.assert_array_equal(shown.tiles.reshape(-1, 2), arrays.targets)
    time = of_model(examples, "timeline", PictureOptions(ticks=2, which=np.array([0])))
    assert isinstance(time, Timeline) and time.heads.tolist() == [0]
    assert [label for label in time.labels if label] == ["left  0", "1", "2"]
    ticked = exset.to_arrays(examples.select([0]), findings=exset.Findings()).by_tick(2)
    np.testing.assert_array_equal(time.panels[1].valid, ticked.target_mask)


def test_tables() -> None:
    numbers = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    made = exset.Table.of({"name": ["a", "b", "c", "d"], "x": numbers, "label": [1, 1, 2, 1]})
    shown = of_model(made, "grid", PictureOptions())
    assert isinstance(shown, Grid) and shown.names == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(shown.tiles, numbers)
    heat = of_model(made, None, PictureOptions(which=np.array([2])))
    assert isinstance(heat, HeatMap) and heat.panels[0].values.tolist() == [[*range(12, 18)]]
    bars = of_model(made, "classes", PictureOptions())
    assert isinstance(bars, Bars) and (bars.names, bars.counts) == (["1", "2"], [3, 1])
    with pytest.raises(ValueError, match="the table has no column 'no'"):
        of_model(made, "units", PictureOptions(column="no"))
    with pytest.raises(ValueError, match="equally many numbers"):
        of_model(exset.Table.of({"t": ["a"]}), "units", PictureOptions())
    with pytest.raises(ValueError, match="no column of classes"):
        of_model(exset.Table.of({"x": np.zeros((1, 2))}), "classes", PictureOptions())
    with pytest.raises(ValueError, match="no rows"):
        of_model(exset.Table.of({"x": np.zeros((0, 2))}), "units", PictureOptions())


def test_class_balance() -> None:
    rows = [[f"{number}.jpg", str(number % 3)] for number in range(8)]
    manifest = exset.Manifest.of(["FILE", "ASCII_INT"], rows)
    bars = of_model(manifest, None, PictureOptions())
    assert isinstance(bars, Bars)
    assert (bars.names, bars.counts) == (["0", "1", "2"], [3, 3, 2])
    assert bars.alternative == ("classes in column 1, 3 values: number of records: 0 3, 1 3, 2 2")
    many = exset.Manifest.of(["STRING"], [[str(number)] for number in range(500)])
    bars = of_model(many, "classes", PictureOptions(column="0"))
    assert isinstance(bars, Bars) and len(bars.names) == 200
    assert bars.note == "the first 200 of 500; the others have 300 records"
    with pytest.raises(ValueError, match="has no field '7'"):
        of_model(manifest, "classes", PictureOptions(column="7"))
    with pytest.raises(ValueError, match="has no picture 'pca': choose one of classes, images"):
        of_model(manifest, "pca", PictureOptions())


def test_sample_lists(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w", track_order=True) as file:
        file["one/x"] = np.zeros((2, 3), np.float32)
        file["one/y"] = np.zeros(4)
    text = f"CONDUIT_HDF5_INCLUSION\n1 0 1\n{tmp_path}\na.h5 1 0 one\n"
    samples = exset.loads(text, model=exset.SampleList)
    bars = of_model(samples, "fields", PictureOptions())
    assert isinstance(bars, Bars)
    assert bars.names == ["x: float32 (2, 3)", "y: float64 (4,)"] and bars.counts == [6, 4]
    bars = of_model(samples, None, PictureOptions())
    assert isinstance(bars, Bars) and (bars.names, bars.counts) == (["a.h5"], [1])
    with pytest.raises(FormatError, match="names no label file"):
        of_model(samples, "classes", PictureOptions())
    (tmp_path / "labels").write_text("a.jpg 4\nb.jpg 2\nc.jpg 4\n")
    text = f"SINGLE-SAMPLE\n3\n{tmp_path}\n{tmp_path}/labels\na.jpg\nb.jpg\nc.jpg\n"
    images = exset.loads(text, model=exset.SampleList)
    bars = of_model(images, "classes", PictureOptions())
    assert isinstance(bars, Bars) and (bars.names, bars.counts) == (["4", "2"], [2, 1])
    with pytest.raises(ValueError, match="names no HDF5 samples"):
        of_model(images, "fields", PictureOptions())


def test_batches(tmp_path: Path, matplotlib: ModuleType) -> None:
    from exset.runtime.samplers.pictures import composition

    labels = np.arange(60) % 6
    sampler = exset.PlannedNxMSampler(labels, 3, 2)
    shown = composition(sampler)
    assert isinstance(shown, Composition) and shown.classes.shape[1] == 6
    expected = [labels[batch].tolist() for batch in sampler.batches()]
    named = [[int(shown.names[each]) for each in row] for row in shown.classes.tolist()]
    assert named == expected[: len(named)]
    assert exset.plot(sampler).axes[0].get_xlabel() == "item of the batch"
    (tmp_path / "l.csv").write_text("who\n" + "\n".join(f"s{x}" for x in labels))
    out = str(tmp_path / "o.png")
    command = ("plot", str(tmp_path / "l.csv"), "-o", out, "--picture", "batches")
    assert run(*command, "-n", "3", "-m", "2", "--column", "who").exit_code == 0
    assert (
        run(*command).exit_code == 2
        and run(*command, "-n", "9", "-m", "2", "--column", "who").exit_code == 2
    )
    with pytest.raises(ValueError, match="needs a file with labels"):
        exset.plot(digits(), "batches")


def test_images(tmp_path: Path, matplotlib: ModuleType) -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV decodes pictures")
    red = np.zeros((40, 400, 3), np.uint8)
    red[:, :, 2] = 255
    cv2.imwrite(str(tmp_path / "a.png"), red)
    cv2.imwrite(str(tmp_path / "b.jpg"), red[:10, :10])
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    rows = [["a.png", "1"], ["b.jpg", "2"], ["c.png", "3"], ["none.png", "4"]]
    manifest = exset.Manifest.of(["FILE", "ASCII_INT"], rows)
    shown = of_model(manifest, "images", PictureOptions(base=str(tmp_path)))
    assert isinstance(shown, ContactSheet) and shown.note == "2 cannot be decoded"
    assert shown.captions == ["1: a.png", "2: b.jpg", "3: c.png", "4: none.png"]
    assert [tile.shape[:2] for tile in shown.tiles[:2]] == [(10, 96), (90, 90)]
    assert shown.tiles[0][5, 50].tolist() == [255, 0, 0], "red first"
    drawn = exset.plot(manifest, "images", base=tmp_path)
    assert "1: a.png" in [text.get_text() for text in drawn.axes[0].texts]
    with pytest.raises(ValueError, match="no column of files or binary data"):
        of_model(exset.Manifest.of(["STRING"], [["a"]]), "images", PictureOptions())
    block = exset.load("exset::captions.tsv")
    exset.save(block, tmp_path / "b.cpio")
    with pytest.raises(ValueError, match="no images"):
        exset.plot(tmp_path / "b.cpio")


def test_hostile_names(tmp_path: Path, matplotlib: ModuleType) -> None:
    from matplotlib.text import Text

    examples = ExampleSet.from_arrays(
        np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32), names=[HOSTILE] * 3
    )
    with matplotlib.rc_context({"text.usetex": True}):
        drawn = exset.plot(examples, "dendrogram", findings=exset.Findings())
        drawn.savefig(tmp_path / "x.svg")
        texts = [text for text in drawn.findobj(Text) if text.get_text()]
        assert not any(text.get_parse_math() or text.get_usetex() for text in texts)
        assert not any("\x1b" in text.get_text() or "\n" in text.get_text() for text in texts)


@pytest.mark.usefixtures("matplotlib")
def test_notebooks_show_figures() -> None:
    drawn = exset.plot("exset::xor.ex", findings=exset.Findings())
    assert drawn._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.warns(exset.FormatWarning):
        exset.loads("[max:] I: 1 0 T: 1;")
