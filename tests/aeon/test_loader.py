"""aeon's loader: what its results depend on, bad records, states, nodes, caches."""

import json
import os
import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import exset
from exset import DataLoader, Findings, FormatError, LoaderConfig
from exset.runtime.aeon.provision.image import Image
from exset.runtime.aeon.provision.opencv import opencv
from tests.training import portable

pytest.importorskip("cv2")

COUNT = 12
MOVED = {"type": "image", "center": False, "scale": [0.4, 1], "angle": [-30, 30]}
RECOLOURED = {"flip_enable": True, "hue": [-9, 9], "lighting": [0, 0.1], "contrast": [0.5, 2]}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pictures of several sizes, and a manifest; the label is the record's index."""
    folder = tmp_path_factory.mktemp("records")
    random = np.random.default_rng(0)
    lines = ["@FILE\tASCII_INT"]
    for number in range(COUNT):
        pixels = random.integers(0, 256, (18 + number, 24 - number, 3), np.uint8)
        (folder / f"{number}.png").write_bytes(opencv().imencode(".png", pixels)[1].tobytes())
        lines.append(f"{number}.png\t{number}")
    (folder / "a.tsv").write_text("\n".join(lines) + "\n")
    (folder / "cache").mkdir()
    return folder


def given(folder: Path, **members: Any) -> dict[str, Any]:
    image = {"type": "image", "height": 8, "width": 10}
    return {
        "manifest_filename": str(folder / "a.tsv"),
        "manifest_root": str(folder),
        "batch_size": 4,
        "random_seed": 5,
        "shuffle_enable": True,
        "shuffle_manifest": True,
        "block_size": 5,
        "etl": [image, {"type": "label", "binary": True}],
        "augmentation": [MOVED | RECOLOURED],
    } | members


def arrays(batch: Any) -> dict[str, NDArray[Any]]:
    """The arrays of a batch, which is a dict or has pairs."""
    return dict(batch)


def rows(loader: DataLoader) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    for batch in loader:
        found = arrays(batch)
        yield from zip(found["label"][:, 0].tolist(), found["image"], strict=True)


def epochs(config: Any, most: int = 2, **options: Any) -> list[list[tuple[int, bytes]]]:
    """The records of some epochs, in order."""
    with DataLoader(config, **options) as loader:
        return [[(label, each.tobytes()) for label, each in rows(loader)] for _ in range(most)]


@pytest.mark.parametrize(
    "options", [{"threads": 2}, {"threads": 8}, {"prefetch": 0}, {"prefetch": 5}], ids=str
)
def test_threads_change_nothing(records: Path, options: dict[str, int]) -> None:
    assert epochs(given(records), **options) == epochs(given(records), threads=1)


def test_epochs_differ_and_seeds_differ(records: Path) -> None:
    first, second = epochs(given(records))
    [other] = epochs(given(records, random_seed=6), 1)
    assert sorted(label for label, _ in first) == sorted(label for label, _ in second)
    assert len({tuple(each) for each in (first, second, other)}) == 3
    assert not {*first} & {*second} and not {*first} & {*other}


@pytest.mark.parametrize("size", [1, 3, 6, 12])
def test_batch_sizes_change_nothing(records: Path, size: int) -> None:
    assert epochs(given(records, batch_size=size)) == epochs(given(records))


@pytest.mark.parametrize("count", [2, 3])
def test_nodes_take_turns_at_the_batches(records: Path, count: int) -> None:
    one = given(records, batch_size=2)
    nodes = [epochs(one | {"node_id": i, "node_count": count}) for i in range(count)]
    for number, wanted in enumerate(epochs(one)):
        shares = [[each[number][at : at + 2] for at in (0, 2, 4)] for each in nodes]
        turns = [record for turn in zip(*shares, strict=True) for part in turn for record in part]
        assert turns == wanted[: len(turns)] and len(turns) > 10


@pytest.mark.parametrize("version", ["head", "seed"])
def test_a_cache_changes_nothing(records: Path, version: str, tmp_path: Path) -> None:
    config = given(records)
    del config["block_size"]
    cached = config | {"cache_directory": str(tmp_path)}
    options: dict[str, Any] = {"version": version, "findings": Findings()}
    plain = epochs(config, **options)
    assert epochs(cached, **options) == plain
    assert [path.name for path in tmp_path.glob("*/cache_complete")] == ["cache_complete"]
    assert epochs(cached, **options) == plain
    other = cached | {"random_seed": 8}
    assert epochs(other, **options) == epochs(config | {"random_seed": 8}, **options)


@pytest.mark.parametrize("mode", ["ONCE", "COUNT", "INFINITE"])
@pytest.mark.parametrize("compat", [None, "aeon"])
def test_a_state_continues_at_any_batch(records: Path, mode: str, compat: Any) -> None:
    config = given(records, batch_size=5, iteration_mode=mode, iteration_mode_count=6)
    with DataLoader(config, compat=compat) as loader:
        whole = [arrays(next(loader)) for _ in range(3)]
    for stop in range(3):
        with DataLoader(config, compat=compat) as first:
            for _ in range(stop):
                next(first)
            state = json.loads(json.dumps(first.state_dict()))
        with DataLoader(config | {"random_seed": 5}, compat=compat, prefetch=0) as second:
            second.load_state_dict(state)
            for wanted, found in zip(whole[stop:], second, strict=False):
                assert all((wanted[name] == array).all() for name, array in arrays(found).items())


def test_the_last_batch_is_filled_from_the_next_epoch(records: Path) -> None:
    first, second = epochs(given(records, batch_size=5))
    assert len(first) == len(second) == 15
    assert sorted(label for label, _ in first[:COUNT]) == [*range(COUNT)]
    assert first[COUNT:] == second[:3]


def test_modes(records: Path) -> None:
    config = given(records, batch_size=5, iteration_mode="COUNT", iteration_mode_count=4)
    counted, again = epochs(config)
    assert len(counted) == 20 and not {*counted} & {*again}
    stream = iter(DataLoader(given(records, batch_size=5, iteration_mode="INFINITE")))
    endless = [next(stream) for _ in range(4)]
    assert [label for batch in endless for label in arrays(batch)["label"][:, 0].tolist()] == [
        label for label, _ in counted
    ]


def test_the_face_of_the_loader(records: Path) -> None:
    loader = DataLoader(given(records))
    assert (len(loader), loader.ndata, loader.batch_size) == (COUNT, COUNT, 4)
    assert loader.config == given(records) and iter(loader) is loader
    axes = (("channels", 3), ("height", 8), ("width", 10))
    assert loader.axes_info == (("image", axes), ("label", (("0", 1),)))
    shapes = {name: (array.shape, array.dtype) for name, array in arrays(next(loader)).items()}
    assert loader.shapes_and_dtypes == shapes
    minor = DataLoader(given(records, batch_major=False))
    assert {name: array.shape for name, array in arrays(next(minor)).items()} == {
        name: shape for name, (shape, _) in minor.shapes_and_dtypes.items()
    }
    seed = DataLoader(given(records, block_size=0), version="seed", findings=Findings())
    assert seed.axes_info["image"] == dict(axes) and [*next(seed)] == ["image", "label"]


@pytest.mark.parametrize("as_path", [False, True])
def test_configurations_are_models_texts_or_paths(records: Path, as_path: bool) -> None:
    text = json.dumps(given(records))
    path = records / "config.json"
    path.write_text(text)
    made = LoaderConfig.from_dict(given(records))
    source = path if as_path else text
    assert epochs(source) == epochs(given(records)) == epochs(made)


@pytest.fixture
def spoilt(records: Path) -> dict[str, Any]:
    """A configuration of a manifest in which records 2 and 7 cannot be decoded."""
    lines = (records / "a.tsv").read_text().splitlines()
    lines[3], lines[8] = "bad.png\t2", "missing.png\t7"
    (records / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (records / "bad.tsv").write_text("\n".join(lines))
    config = {"manifest_filename": str(records / "bad.tsv"), "shuffle_manifest": False}
    return given(records, **config, shuffle_enable=False)


@pytest.mark.parametrize("threads", [1, 4])
def test_errors_lose_only_their_batch(spoilt: dict[str, Any], threads: int) -> None:
    loader, found, failed = iter(DataLoader(spoilt, threads=threads)), [], []
    while True:
        try:
            found += arrays(next(loader))["label"][:, 0].tolist()
        except StopIteration:
            break
        except FormatError as error:
            failed.append(str(error.place))
    assert found == [8, 9, 10, 11]
    assert [place.rpartition(":")[2] for place in failed] == ["4", "9"]


def test_skipped_records_are_replaced(spoilt: dict[str, Any]) -> None:
    findings = Findings()
    [found] = epochs(spoilt, 1, on_error="skip", findings=findings)
    good = spoilt | {"manifest_filename": spoilt["manifest_filename"].replace("bad", "a")}
    plain = dict(epochs(good, 1)[0][:COUNT])
    assert [label for label, _ in found] == [0, 1, 3, 4, 5, 6, 8, 9, 10, 11, 0, 1]
    assert all(plain[label] == picture for label, picture in found[:10])
    assert [finding.code for finding in findings] == ["aeon-record"] * 2


def test_blank_records_are_zero(spoilt: dict[str, Any]) -> None:
    loader = DataLoader(spoilt, on_error="blank")
    found = [row for batch in loader for row in arrays(batch)["image"]]
    assert [number for number, row in enumerate(found) if not row.any()] == [2, 7]
    assert len(loader.findings) == 2


def test_only_bad_records_are_an_error(records: Path) -> None:
    (records / "none.tsv").write_text("@FILE\tASCII_INT\nbad.png\t1\n")
    (records / "bad.png").write_bytes(b"x")
    loader = DataLoader(
        given(records, manifest_filename=str(records / "none.tsv")), on_error="skip"
    )
    with pytest.raises(FormatError, match="cannot decode this picture"):
        next(loader)


def test_closing_ends_all_threads(records: Path) -> None:
    before = {*enumerate_threads()}
    loader = DataLoader(given(records), threads=3)
    next(loader)
    assert {*enumerate_threads()} - before
    loader.close()
    assert not {*enumerate_threads()} - before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="it cannot bind threads")
def test_a_list_of_cores(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads keep to the cores of the list that exist, and the caller is not bound."""
    seen, provide, before = set[frozenset[int]](), Image.provide, os.sched_getaffinity(0)
    core = min(before)

    def watched(*given: Any) -> None:
        seen.add(frozenset(os.sched_getaffinity(0)))
        provide(*given)

    monkeypatch.setattr(Image, "provide", watched)
    assert epochs(given(records, cpu_list=f"{core},4095"), prefetch=0) == epochs(given(records))
    assert frozenset([core]) in seen and os.sched_getaffinity(0) == before
    seen.clear()
    epochs(given(records, cpu_list="4095"), threads=1, prefetch=0)
    assert seen == {frozenset(before)}


def test_debug_output(records: Path, tmp_path: Path) -> None:
    """Each changed picture and its parameters; checks write nothing."""
    augmentation = [MOVED | RECOLOURED | {"debug_output_directory": str(tmp_path)}]
    config = given(records, augmentation=augmentation)
    (records / "config.json").write_text(json.dumps(config))
    exset.validate(records / "config.json", check_files=True, decode=True)
    assert not [*tmp_path.iterdir()]
    with DataLoader(config) as loader:
        found = {label: picture for label, picture in rows(loader)}
    assert {path.name for path in tmp_path.iterdir()} == {
        f"0-{number}-0.{suffix}" for number in range(COUNT) for suffix in ("png", "txt")
    }
    picture = opencv().imread(str(tmp_path / "0-3-0.png"))
    assert (picture.transpose(2, 0, 1) == found[3]).all()
    assert "source: Size(width=21, height=21)\n" in (tmp_path / "0-3-0.txt").read_text()
    with pytest.raises(FormatError, match="not a folder"):
        DataLoader(given(records, augmentation=[MOVED | {"debug_output_directory": "gone"}]))


def test_the_example_of_the_user_guide(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As printed, with other imports, and `be` for a backend."""
    monkeypatch.chdir(records)
    Path("train.csv").write_text(Path("a.tsv").read_text())
    be = "cpu"

    image_config = dict(type="image", height=224, width=224)
    label_config = dict(type="label", binary=True)
    augmentation_config = dict(type="image", flip_enable=True)
    config = dict(etl=(image_config, label_config),
                  augment=(augmentation_config),
                  manifest_filename='train.csv',
                  minibatch_size=128)  # fmt: skip

    with pytest.warns(exset.FormatWarning, match="outdated"):
        train = DataLoader(config, be)
    [batch] = train
    found = arrays(batch)
    assert found["image"].shape == (128, 3, 224, 224) and found["label"].dtype == np.uint32
    labels = Counter(found["label"][:, 0].tolist())
    assert labels.keys() == {*range(COUNT)} and {*labels.values()} == {10, 11}


def test_a_dataset_gives_the_same_records(records: Path) -> None:
    """By index, through `Batches`, and after a pickle."""
    config = LoaderConfig.from_dict(given(records, shuffle_manifest=False))
    data = exset.dataset(config, threads=2)
    wanted = [dict(epoch[:COUNT]) for epoch in epochs(given(records, shuffle_manifest=False))]
    batches = exset.Batches(data, range(COUNT), 5)
    for epoch in range(2):
        batches.set_epoch(epoch)
        found = [each for batch in batches for each in batch["image"]]
        assert [each.tobytes() for each in found] == [wanted[epoch][i] for i in range(COUNT)]
    copy = pickle.loads(pickle.dumps(data))
    assert copy[3]["image"].tobytes() == wanted[1][3]
    only = exset.dataset(config, fields=["label"])
    assert only.fields == ("label",) and [*only[[4, -1, 4]]] == ["label"]


def test_a_dataset_of_a_file_is_one_of_torch(records: Path) -> None:
    torch = pytest.importorskip("torch")
    (records / "config.json").write_text(json.dumps(given(records)))
    data = exset.dataset(records / "config.json").to_torch()
    batch = next(iter(torch.utils.data.DataLoader(data, batch_size=3)))
    assert batch["image"].shape == (3, 3, 8, 10) and batch["label"].dtype == torch.uint32


def test_another_device(records: Path) -> None:
    """Batches on a device that is not the host are the same."""
    plain, moved = (DataLoader(given(records), each) for each in ("cpu", "portable"))
    for one, other in zip(plain, moved, strict=True):
        there = arrays(other)
        for name, array in arrays(one).items():
            found = there[name]
            assert isinstance(found, portable.Guarded) and (found.get() == array).all()
