"""`exset provision`, and the pictures of batches."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exset import DataLoader, Findings, LoaderConfig
from exset.runtime.aeon.provision.sheet import Sheet, as_png
from exset.runtime.pictures.tiles import sheet
from tests.aeon.configs import AUDIO, config
from tests.cli.command_line import run

cv2 = pytest.importorskip("cv2", reason="OpenCV decodes and draws pictures")


@pytest.fixture(autouse=True)
def current(folder: Path) -> Path:
    """A folder with a configuration of five pictures and their classes."""
    lines = ["@FILE\tASCII_INT"]
    for number in range(5):
        pixels = np.full((9, 12, 3), 40 * number, np.uint8)
        (folder / f"{number}.png").write_bytes(as_png(pixels))
        lines.append(f"{number}.png\t{number}")
    (folder / "m.tsv").write_text("\n".join(lines) + "\n")
    image = {"type": "image", "height": 8, "width": 10}
    etl = [image, {"type": "label", "binary": True}]
    given = {"manifest_filename": "m.tsv", "batch_size": 2, "etl": etl}
    (folder / "c.json").write_text(json.dumps(given))
    return folder


def test_batches_are_written() -> None:
    done = run("provision", "c.json", "--batches", "2", "-o", "out", "--contact-sheet", "all.png")
    assert done.exit_code == 0, done.output
    assert "image: uint8 [2, 3, 8, 10]\nlabel: uint32 [2, 1]\n" in done.stdout
    assert "out: 4 records\nall.png: 4 records\n" in done.stderr
    names = {f"{batch}{part}" for batch in (0, 1) for part in (".npz", "-0.png", "-1.png")}
    assert {path.name for path in Path("out").iterdir()} == names
    with np.load("out/1.npz") as arrays, DataLoader("c.json") as loader:
        next(loader)
        for name, expected in dict(next(loader)).items():
            assert np.array_equal(arrays[name], expected)
    tile, tiles = (cv2.imread(name) for name in ("out/1-0.png", "all.png"))
    assert tile[0, 0].tolist() == [80] * 3 and tile.max() > 200  # the label is white
    assert tiles.shape[0] > 2 * tile.shape[0] and tiles.shape[1] > 2 * tile.shape[1]


def test_json_and_speed() -> None:
    done = run("provision", "c.json", "--json")
    found = json.loads(done.stdout)
    assert found["records"] == 2 and found["outputs"]["label"] == ["uint32", 2, 1]
    done = run("provision", "c.json", "--bench", "--batches", "6", "--json")
    found = json.loads(done.stdout)
    assert found["records"] == 12 and found["rate"] > 0
    shares = found["shares"]
    assert [*shares] == ["read", "decode", "transform", "copy", "other"]
    assert sum(shares.values()) == pytest.approx(1, abs=0.01) and shares["decode"] > 0
    assert (
        "records/s (12 records)" in run("provision", "c.json", "--bench", "--batches", "6").stdout
    )


def test_bad_records() -> None:
    Path("1.png").write_bytes(b"no picture")
    done = run("provision", "c.json")
    assert done.exit_code == 1 and "1.png" in done.stderr
    done = run("provision", "c.json", "--on-error", "skip", "--compat", "--threads", "1")
    assert done.exit_code == 0 and "aeon-record" in done.stderr


def test_scaled_decoding() -> None:
    """It changes nothing for small pictures, and is not aeon's."""
    plain, scaled = (run("provision", "c.json", *each) for each in ([], ["--scaled-decoding"]))
    assert scaled.exit_code == 0 and scaled.stdout == plain.stdout
    done = run("provision", "c.json", "--scaled-decoding", "--compat")
    assert done.exit_code == 2 and "--scaled-decoding changes values" in done.stderr


def drawn(etl: list[dict[str, Any]], batch: dict[str, Any], **members: Any) -> Any:
    """Return the picture of the first record of a batch."""
    dialect = "seed" if etl[0]["type"] == "audio" else "head"
    found = LoaderConfig.from_dict(config(*etl, **members), dialect=dialect, findings=Findings())
    arrays = {name: np.array(values)[None] for name, values in batch.items()}
    return Sheet.of(found).batch(arrays, found)[0]


IMAGE = {"type": "image", "height": 64, "width": 64}
GREY = np.full((3, 64, 64), 99, np.uint8)


def test_boxes_and_masks() -> None:
    """A box is around the pixels that it names, a mask tints its pixels."""
    large = drawn([IMAGE], {"image": GREY})
    assert (large[:128, :128] == 99).all()  # twice as large
    classes = {"class_names": ["a"], "height": 64, "width": 64}
    boxes = {"type": "boundingbox", "max_bbox_count": 2, **classes}
    found = np.zeros((2, 4), np.float32)
    found[0] = 8, 16, 31, 47
    framed = drawn([IMAGE, boxes], {"image": GREY, "boundingbox": found})
    changed = np.argwhere((framed != large).any(axis=2))
    assert changed.min(axis=0).tolist() == [32, 16] and changed.max(axis=0).tolist() == [95, 63]
    ssd = {"type": "localization_ssd", **classes}
    normal = np.zeros((64, 4), np.float32)
    normal[0] = 8 / 64, 16 / 64, 32 / 64, 48 / 64
    arrays = {"image": GREY, "gt_boxes": normal, "gt_box_count": [[1]]}
    arrays |= {"gt_class_count": np.zeros((64, 1), np.int32)}
    assert np.array_equal(drawn([ssd, IMAGE], arrays), framed)
    mask = np.zeros((1, 64, 64), np.uint8)
    mask[0, :32] = 1
    kind = {**IMAGE, "type": "pixelmask", "channels": 1}
    tinted = drawn([IMAGE, kind], {"image": GREY, "pixelmask": mask})
    assert (tinted[:64, :128] != 99).any(axis=2).all() and (tinted[64:128, :128] == 99).all()


def test_pictures_of_every_kind() -> None:
    red = np.zeros((3, 64, 64), np.uint8)
    red[0] = 255
    rgb = drawn([{**IMAGE, "bgr_to_rgb": True}], {"image": red})
    assert rgb[0, 0].tolist() == [0, 0, 255]
    last = drawn([{**IMAGE, "channel_major": False}], {"image": red.transpose(1, 2, 0)})
    assert last[0, 0].tolist() == [255, 0, 0]
    grey = drawn([{**IMAGE, "channels": 1}], {"image": red[:1]})
    assert grey[0, 0].tolist() == [255] * 3
    standard = {"type": "image", "mean": [0.5] * 3, "stddev": [0.25] * 3}
    floats = {**IMAGE, "output_type": "float"}
    values = (red / 255 - 0.5) / 0.25
    same = drawn([floats], {"image": values.astype(np.float32)}, augmentation=[standard])
    assert same[0, 0].tolist() == [255, 0, 0]
    given = LoaderConfig.from_dict(config(IMAGE, batch_major=False), findings=Findings())
    flat = red.reshape(1, -1).T
    assert Sheet.of(given).batch({"image": flat}, given)[0][0, 0].tolist() == [255, 0, 0]


def test_sounds_videos_and_nothing() -> None:
    spectrum = np.zeros((1, 201, 98), np.uint8)
    spectrum[0, 5] = 200
    assert drawn([AUDIO], {"audio": spectrum})[5, 0].tolist() == [200] * 3
    frames = np.zeros((3, 2, 64, 64), np.uint8)
    frames[1, 0] = 50
    video = {"type": "video", "max_frame_count": 2, "frame": {"height": 64, "width": 64}}
    assert drawn([video], {"video": frames})[0, 0].tolist() == [0, 50, 0]
    assert drawn([{"type": "label"}], {"label": [7]}).max() > 200
    assert sheet([]).size == 0
