"""Datasets of manifests and caches: the elements of records, against plain Python."""

import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset import FormatError, LimitError, Manifest
from exset.grammars.aeon.block import Block
from exset.io.access import Access
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.elements import ElementError, encoded
from exset.runtime.arrays import Device, padded, to_device, to_host
from exset.testing.aeon import manifests
from tests.aeon.caches import raises
from tests.training.backends import BACKENDS
from tests.training.dataset_laws import Row, check

DEVICES: list[Device] = ["cpu", "portable"]
if len(BACKENDS) > 1:
    DEVICES.append("cuda")
TYPES = ["FILE", "ASCII_INT", "STRING", "ASCII_FLOAT", "BINARY"]
NAMES = ["image", "label", "word", "weight", "blob"]


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    """Five records of each type, with files of 0 to 4 bytes."""
    folder = tmp_path / "files"
    folder.mkdir()
    rows = []
    for i in range(5):
        (folder / f"{i}.bin").write_bytes(bytes(range(i)))
        rows.append((f"{i}.bin", i - 2, "w" * (5 - i), i / 3, "QUJD" * i))
    return Manifest.of(TYPES, rows)


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path / "files")


@pytest.fixture
def cache(manifest: Manifest, root: str, tmp_path: Path) -> str:
    """Its cache, of blocks of 2, 2 and 1 records."""
    plan = Plan.of(manifest, base=root, block_size=2)
    return build(plan, str(tmp_path)).folder


def plain(manifest: Manifest, root: str) -> list[Row]:
    """Return the elements of each record, as aeon's loader gets them."""
    every = []
    for record in encoded(manifest, base=root):
        row: Row = {}
        for name, kind, each in zip(NAMES, TYPES, record, strict=True):
            assert isinstance(each, bytes)
            dtype = {"ASCII_INT": "int32", "ASCII_FLOAT": "float32"}.get(kind, "uint8")
            row[name] = (dtype, () if dtype != "uint8" else (len(each),), each)
        every.append(row)
    return every


@pytest.mark.parametrize("pad", [False, True])
def test_records_of_a_manifest(manifest: Manifest, root: str, pad: bool) -> None:
    dataset = exset.dataset(manifest, names=NAMES, base=root, padded=pad)
    assert check(dataset, [3, 3, -5]) == plain(manifest, root)


@pytest.mark.parametrize("pad", [False, True])
def test_records_of_a_cache_are_those_of_its_manifest(
    manifest: Manifest, root: str, cache: str, pad: bool
) -> None:
    options: dict[str, Any] = {"types": manifest.types, "names": NAMES, "padded": pad}
    assert len(Cache(cache)) > 1
    for given_ in (cache, Path(cache), Cache(cache)):
        dataset = exset.dataset(given_, **options)
        assert check(dataset, [4, 0, 4]) == plain(manifest, root)
    bare = exset.dataset(cache)
    assert bare.ragged == ("0", "1", "2", "3", "4")
    assert bare.batch([4])["1.values"].tolist() == [2, 0, 0, 0]
    words = exset.dataset(cache, types=" FILE, ASCII_INT,STRING,ASCII_FLOAT,BINARY")
    assert words.fields[:3] == ("0.values", "0.offsets", "1")


def test_names_of_the_arrays(manifest: Manifest, root: str) -> None:
    dataset = exset.dataset(manifest, base=root)
    assert dataset.fields == (
        *("0.values", "0.offsets", "1", "2.values", "2.offsets", "3", "4.values", "4.offsets"),
    )
    assert dataset.ragged == ("0", "2", "4")
    batch = dataset.batch([4, 0, 1])
    assert batch["0.values"].tolist() == [0, 1, 2, 3, 0]
    assert batch["0.offsets"].tolist() == [0, 4, 4, 5]
    assert batch["1"].tolist() == [2, -2, -1] and batch["1"].dtype == np.int32
    whole = exset.dataset(manifest, base=root, names=NAMES, padded=True)
    assert whole.fields[:3] == ("image", "image.mask", "label") and whole.ragged == ()
    batch = whole.batch([2, 0])
    assert batch["image"].tolist() == [[0, 1], [0, 0]]
    assert batch["image.mask"].tolist() == [[True, True], [False, False]]
    assert repr(whole).startswith("ManifestDataset(5 records: image FILE, label ASCII_INT")
    for names in (["a"], "abcde", ["a"] * 5, [1, 2, 3, 4, 5], ["a", "b", "a.values", "d", "e"]):
        with pytest.raises(ValueError, match="names"):
            exset.dataset(manifest, names=names)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("pad", [False, True])
def test_all_records_on_a_device(
    manifest: Manifest, root: str, cache: str, device: Device, pad: bool
) -> None:
    for dataset in (
        exset.dataset(manifest, base=root, padded=pad),
        exset.dataset(cache, types=TYPES, padded=pad),
    ):
        expected, arrays = dataset.batch(range(5)), dataset.to_arrays(device)
        assert list(arrays) == list(expected)
        for name, array in arrays.items():
            host = to_host(array)
            assert host.dtype == expected[name].dtype
            np.testing.assert_array_equal(host, expected[name])


@pytest.mark.parametrize("device", DEVICES)
@given(st.lists(st.lists(st.integers(0, 255), max_size=4), max_size=5))
def test_padding(device: Device, given_: list[list[int]]) -> None:
    from exset.runtime.arrays import namespace

    xp = namespace(device)
    values = np.array([each for row in given_ for each in row], np.uint8)
    offsets = np.cumsum([0, *map(len, given_)])
    rows, mask = padded(xp, to_device(xp, values), to_device(xp, offsets))
    wide = max(map(len, given_), default=0)
    assert to_host(rows).tolist() == [row + [0] * (wide - len(row)) for row in given_]
    assert to_host(mask).tolist() == [
        [True] * len(row) + [False] * (wide - len(row)) for row in given_
    ]


@settings(max_examples=25)
@given(manifests(), st.randoms())
def test_any_manifest(manifest: Manifest, chance: Any) -> None:
    """A batch has each element that aeon makes; any other is an error that names its record."""
    expected = list(encoded(manifest))
    dataset = exset.dataset(manifest)
    order = [*range(len(manifest))] * 2
    chance.shuffle(order)
    bad = [i for i in order if any(isinstance(each, ElementError) for each in expected[i])]
    if bad:
        with pytest.raises(FormatError) as caught:
            dataset.batch(order)
        field = caught.value.place and caught.value.place.field
        columns = {
            (i, c) for i in bad for c, e in enumerate(expected[i]) if isinstance(e, ElementError)
        }
        assert field in {f"[{record}][{column}]" for record, column in columns}
    good = [i for i in order if i not in bad]
    batch = dataset.batch(good)
    for row, i in enumerate(good):
        for column, each in enumerate(expected[i]):
            if f"{column}" in batch:
                assert batch[f"{column}"][row].tobytes() == each
            else:
                begin, end = batch[f"{column}.offsets"][row : row + 2]
                assert batch[f"{column}.values"][begin:end].tobytes() == each


def test_an_element_that_aeon_cannot_make(tmp_path: Path) -> None:
    lines = b"@FILE\tASCII_INT\na\t1\nb\tx\nc\t3\n"
    manifest = exset.loads(lines, format="manifest", findings=exset.Findings())
    (tmp_path / "a").write_bytes(b"A")
    (tmp_path / "b").write_bytes(b"B")
    dataset = exset.dataset(manifest, base=str(tmp_path))
    assert dataset.batch([0])["0.values"].tolist() == [65]
    with pytest.raises(FormatError, match="record 1, column 1: ") as caught:
        dataset.batch([0, 1])
    assert caught.value.place is not None and caught.value.place.line == 3
    with pytest.raises(FormatError, match=r"record 2, column 0: .*c: No such file") as caught:
        dataset.batch([2, 0])
    assert caught.value.code == "aeon-file"
    (tmp_path / "c").mkdir()
    with pytest.raises(FormatError, match="this is a folder"):
        dataset.batch([2])


def test_files_must_be_in_the_roots(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a").write_bytes(b"A")
    (tmp_path / "secret").write_bytes(b"S")
    os.symlink(tmp_path / "secret", inside / "link")
    paths = ["a", "../secret", "link", str(tmp_path / "secret"), "a\0b"]
    manifest = Manifest.of(["FILE"], [[path] for path in paths])
    access = Access(roots=(str(inside),))
    dataset = exset.dataset(manifest, base=str(inside), access=access)
    assert dataset.batch([0, 4])["0.values"].tolist() == [65, 65]
    for record in (1, 2, 3):
        with raises("aeon-file-outside") as caught:
            dataset.batch([0, record])
        assert caught.value.place is not None and caught.value.place.field == f"[{record}][0]"
    assert exset.dataset(manifest, base=str(inside)).batch([1])["0.values"].tolist() == [83]


def test_the_size_of_a_batch_is_limited(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(10))
    manifest = Manifest.of(["FILE", "STRING"], [(str(tmp_path / "a"), "xy")] * 4)
    limits = exset.Limits(max_batch=25)
    dataset = exset.dataset(manifest, limits=limits)
    assert dataset.batch([0, 1])["0.values"].size == 20
    with pytest.raises(LimitError, match="a has 10 bytes, but the limit leaves room for only 5"):
        dataset.batch([0, 1, 2])
    words = Manifest.of(["STRING"], [["x" * 20], *([[""]] * 9)])
    with pytest.raises(LimitError, match="column 0 of the batch has 40 bytes"):
        exset.dataset(words, limits=limits).batch([0, 0])
    with pytest.raises(LimitError, match="column 0 of the batch has 200 bytes"):
        exset.dataset(words, limits=limits, padded=True).to_arrays()
    block = Block.of([[b"x" * 20]] * 2)
    with pytest.raises(LimitError, match="column 0 of the batch has 40 bytes"):
        exset.dataset(block, limits=limits).batch([0, 1])


def test_blocks_and_archives(tmp_path: Path) -> None:
    records = [[b"ab", struct.pack("<i", -7)], [b"", struct.pack("<i", 8)]]
    block = Block.of(records)
    path = tmp_path / "block_0.cpio"
    exset.save(block, path)
    for given_ in (block, path, os.fsencode(path)):
        dataset = exset.dataset(given_, types=["BINARY", "ASCII_INT"], names=["data", "n"])
        every = check(dataset)
        assert [row["n"][2] for row in every] == [row[1] for row in records]
        assert [row["data"][2] for row in every] == [row[0] for row in records]
    archive = Block.archive([(b"a.txt", b"text"), (b"b.txt", b"")])
    exset.save(archive, tmp_path / "a.cpio", format="cpio")
    assert [row["0"][2] for row in check(exset.dataset(tmp_path / "a.cpio"))] == [b"text", b""]


def test_types_that_do_not_fit_the_elements(cache: str) -> None:
    with raises("aeon-cache-width"):
        exset.dataset(cache, types="FILE,ASCII_INT")
    wrong = "FILE,ASCII_INT,ASCII_INT,ASCII_FLOAT,BINARY"
    with raises("aeon-cache-width"):
        exset.dataset(cache, types=wrong)
    with pytest.raises(ValueError, match="PICTURE"):
        exset.dataset(cache, types="PICTURE")


def test_an_incomplete_cache(cache: str) -> None:
    dataset = exset.dataset(cache)
    path = Path(cache) / "block_1.cpio"
    (Path(cache) / "cache_complete").unlink()
    with pytest.warns(exset.FormatWarning, match="cache_complete") as warned:
        exset.dataset(cache)
    assert warned[0].filename == __file__
    with raises("aeon-cache-incomplete"):
        exset.dataset(cache, strict=True)
    whole = path.read_bytes()
    os.unlink(path)  # the mapped file keeps its contents
    path.write_bytes(whole[:100])
    with raises("aeon-cache-block"):
        exset.dataset(cache, findings=exset.Findings())
    again = pickle.loads(pickle.dumps(dataset))
    with pytest.raises(FormatError):
        again.batch([3])
    os.unlink(path)
    with raises("aeon-cache-gap"):
        exset.dataset(cache, findings=exset.Findings())
    path.write_bytes((Path(cache) / "block_2.cpio").read_bytes())
    with raises("aeon-cache-block"):
        again.batch([3])
    with raises("aeon-cache-none"):
        folder = Path(cache).parent / "empty"
        folder.mkdir()
        exset.dataset(folder, findings=exset.Findings())


def test_few_blocks_are_kept_open(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exset.runtime.aeon.cache_dataset._MAX_MAPPED", 1)
    dataset = exset.dataset(cache, types=TYPES)
    last = len(dataset) - 1
    for _ in range(2):
        assert dataset.batch([last, 0])["1"].tolist() == [last - 2, -2]
    assert len(vars(dataset)["_mapped"]) == 1


def test_pickles_are_small(tmp_path: Path, manifest: Manifest, root: str, cache: str) -> None:
    dataset = exset.dataset(cache)
    dataset.batch([0, 1, 2])
    assert len(pickle.dumps(dataset)) < 3000
    exset.save(Block.of([[bytes(10**6)]]), tmp_path / "big.cpio")
    assert len(pickle.dumps(exset.dataset(tmp_path / "big.cpio"))) < 2000
    files = exset.dataset(manifest, base=root)
    files.batch([1])
    assert len(pickle.dumps(files)) < len(pickle.dumps(manifest)) + 1500


def test_a_dataset_without_records() -> None:
    empty = exset.dataset(Manifest.of(TYPES, []))
    assert check(empty) == []
    assert empty.batch([])["0.offsets"].tolist() == [0]
    assert exset.dataset(Manifest.of(TYPES, []), padded=True).batch([])["0"].shape == (0, 0)
    for block in (Block.of([]), Block.archive([])):
        assert exset.dataset(block, types="ASCII_INT").batch([])["0"].dtype == np.int32
        assert check(exset.dataset(block)) == []


@pytest.mark.parametrize("types", [["FILE"], ["FILE", "ASCII_INT"], ["STRING"] * 3])
def test_a_manifest_is_pickled_with_its_types(types: list[str]) -> None:
    manifest = Manifest.of(types, [["1"] * len(types)])
    assert pickle.loads(pickle.dumps(manifest)) == manifest


def test_chosen_columns_are_read_without_the_files_of_others(
    manifest: Manifest, root: str, cache: str
) -> None:
    whole = exset.dataset(manifest, names=NAMES, base=root).batch([3, 1])
    labels = exset.dataset(manifest, names=NAMES, fields=["weight", "label"], base="nowhere")
    assert labels.fields == ("weight", "label") and labels.ragged == ()
    of_cache = exset.dataset(cache, types=TYPES, names=NAMES, fields=["weight", "label"])
    for made in (labels, of_cache):
        check(made, [2, 0])
        batch = made.batch([3, 1])
        assert list(batch) == ["weight", "label"]
        assert all((batch[name] == whole[name]).all() for name in batch)
    words = exset.dataset(manifest, names=NAMES, fields=["word"], padded=True)
    assert words.fields == ("word", "word.mask")
    for fields in ("label", ["label", "label"], ["lable"]):
        with pytest.raises(ValueError, match=r"^fields"):
            exset.dataset(manifest, names=NAMES, fields=fields)
