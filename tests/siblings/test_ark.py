"""Archives of Kaldi."""

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import ExampleSet, Findings, FormatError, Table, formats
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.tables.columns import Numbers
from exset.runtime.siblings import ark
from exset.testing.siblings import archives
from tests.siblings.corpus import verdicts

engines = pytest.mark.parametrize("engine", ["table", "reference"])

OTHER = ("float", "bool", "token", "tokens")
"""Archives of objects that exset does not read."""


@engines
def test_the_corpus(corpus: Path, engine: Engine) -> None:
    folder, seen = corpus / "siblings/kaldi", 0
    for verdict in verdicts(folder):
        content = (folder / verdict.path).read_bytes()
        is_kaldi = verdict.oracle.startswith("kaldi_native_io")
        if not verdict.path.endswith("ark") or not is_kaldi or len(content) > 20_000:
            continue
        source, name = Source(verdict.path, content), verdict.path.removeprefix("made/")[:-4]
        if verdict.verdict != "accept" or name in OTHER:
            with pytest.raises(FormatError):
                ark.read(source, engine=engine)
            continue
        seen += 1
        check(ark.read(source, engine=engine, findings=Findings()), verdict.values)
    assert seen > 25


def check(table: Table, expected: dict[str, Any]) -> None:
    # kaldi_native_io stops at nan in text, and kaldiio keeps a line break before a key
    best = max(expected, key=lambda name: (len(expected[name]), name != "kaldiio"))
    objects = [
        (key, wanted["values"] if isinstance(wanted, dict) else wanted)
        for key, wanted in expected[best]
    ]
    features: Any = table["features"]
    rows = [np.ravel(getattr(each, "values", each)) for each in features]
    values = np.concatenate(rows) if rows else np.zeros(0, np.float32)
    numbers = np.concatenate([np.ravel(np.array(wanted, values.dtype)) for _, wanted in objects])
    assert np.allclose(values, numbers, rtol=2e-6, atol=2e-5, equal_nan=True)
    keys = [key for key, wanted in objects if len(wanted) or "event" not in table]
    assert list(dict.fromkeys(table["name"])) == list(dict.fromkeys(keys))


@given(archives())
def test_written_archives_read_back(table: Table) -> None:
    data = exset.dumps(table, format="kaldi_ark", findings=Findings())
    assert exset.loads(data, format="kaldi_ark", model=Table, findings=Findings()) == table


def matrix(rows: int, cols: int, *values: float, key: bytes = b"a ") -> bytes:
    """Return an entry with a matrix."""
    sizes = struct.pack("<bibi", 4, rows, 4, cols)
    return key + b"\0BFM " + sizes + struct.pack(f"<{len(values)}f", *values)


@engines
def test_every_cut(engine: Engine) -> None:
    """A cut archive is an error, or has bytes after its last object."""
    whole = matrix(1, 2, 0.5, 1.5) + matrix(1, 2, 2.5, 0.0, key=b"b ")
    table = ark.read(Source("x", whole), engine=engine)
    assert len(table) == 2
    for end in range(5, len(whole)):
        findings = Findings()
        try:
            made = ark.read(Source("x", whole[:end]), engine=engine, findings=findings)
        except FormatError:
            continue
        assert findings or (end == len(whole) // 2 and made == table[:1])


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (matrix(1, 1, 0.5), None),
        (matrix(1, 1, 0.5) * 2, "ark-key-twice"),
        (matrix(1, 1, 0.5) + b"rest", "ark-kaldiio"),
        (matrix(1, 1, 0.5, key=b"a\t"), "ark-kaldiio"),
        (b"a [\r\n 1 2\r\n 3 4 ]\r\n", "ark-kaldiio"),
        (b"a [ 1 2 ]\na [ 1 3 ]\n", "ark-key-twice"),
    ],
)
@engines
def test_findings(data: bytes, code: str | None, engine: Engine) -> None:
    findings = Findings()
    ark.read(Source("x", data), findings=findings, engine=engine)
    assert [each.code for each in findings] == ([code] if code else [])


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (matrix(1, 1, 0.5, key=b"a  "), "ark-key"),
        (matrix(1, 1, 0.5, key=b"a"), "ark-key"),
        (b"\0B\4\0\0\0\0" + matrix(1, 1, 0.5), "ark-key"),
        (matrix(-1, 1), "syntax"),
        (matrix(2**31 - 1, 2**31 - 1, 0.5), "syntax"),
        (matrix(1, 1, 0.5) + b"v \0BFV \4\1\0\0\0\0\0\0\0", "ark-kinds"),
        (b"a [\n 1 2\n 3 ]\n", "ark-text"),
        (b"a [ 1\n", "syntax"),
        (b"a yes\n", "syntax"),
    ],
)
@engines
def test_errors(data: bytes, code: str, engine: Engine) -> None:
    with pytest.raises(FormatError) as info:
        ark.read(Source("x", data), engine=engine)
    assert info.value.code == code


def test_detection() -> None:
    assert formats.detect(matrix(1, 1, 0.5), "x").name == "kaldi_ark"
    assert formats.detect(b"a  [\n 1 ]\n", "x.ark").name == "kaldi_ark"


def test_what_an_archive_cannot_store() -> None:
    for wrong in (
        {"features": [1.0], "name": ["a b"]},
        {"features": [1.0], "name": [""]},
        {"features": [None, 1.0]},
        {"features": ["a"]},
        {"features": [1 << 60, (1 << 60) + 1]},
        {"features": [[1.0], [1.0, 2.0]], "example": [0, 0]},
        {"inputs": [1.0], "targets": [1.0]},
        {"weight": [1.0]},
    ):
        with pytest.raises(FormatError) as info:
            exset.dumps(Table.of(wrong), format="kaldi_ark", findings=Findings())
        assert info.value.code == "table-holds", wrong


@pytest.mark.parametrize(("kind", "top"), [("CM2", 65535), ("CM3", 255)])
def test_compressed_matrices(kind: str, top: int) -> None:
    random = np.random.default_rng(1)
    values = np.concatenate([random.normal(size=(40, 3)), np.full((2, 3), 4)]).astype(np.float32)
    example = np.repeat([0, 1], [40, 2])
    table = Table.of({"example": example, "event": [*range(40), 0, 1], "features": values})
    data = exset.dumps(table, format="kaldi_ark", matrices=kind)
    found = exset.loads(data, format="kaldi_ark", model=Table)["features"]
    span = float(np.ptp(values[:40]))
    assert isinstance(found, Numbers)
    assert np.abs(found.values - values).max() <= span / top
    wrong: tuple[dict[str, Any], ...] = (
        {"features": [[1.0, 2.0]]},
        {"features": [[1.0, np.nan]], "example": [0]},
    )
    for each in wrong:
        with pytest.raises(FormatError):
            exset.dumps(Table.of(each), format="kaldi_ark", matrices=kind)


@pytest.mark.parametrize(("kind", "method"), [("CM2", "kTwoByteAuto"), ("CM3", "kOneByteAuto")])
def test_compressed_matrices_of_kaldi(tmp_path: Path, kind: str, method: str) -> None:
    native = pytest.importorskip("kaldi_native_io")
    values = np.random.default_rng(2).normal(size=(50, 7)).astype(np.float32)
    with native.CompressedMatrixWriter(f"ark:{tmp_path / 'x.ark'}") as file:
        file.write("a", values, getattr(native.CompressionMethod, method))
    table = Table.of({"example": np.zeros(50, np.int64), "name": ["a"] * 50, "features": values})
    data = exset.dumps(table, format="kaldi_ark", matrices=kind)
    assert data == (tmp_path / "x.ark").read_bytes()


def test_lens_sets(tmp_path: Path) -> None:
    """Two archives have the inputs and the targets of a set."""
    for side in ("inputs", "targets"):
        out = tmp_path / f"{side}.ark"
        exset.convert("exset::xor-events.ex", out, side=side, lossy=True, findings=Findings())
    inputs, targets = (exset.load(tmp_path / f"{side}.ark") for side in ("inputs", "targets"))
    assert isinstance(inputs, Table) and isinstance(targets, Table)
    both = Table.of(
        {
            "name": inputs["name"],
            "inputs": inputs["features"],
            "example": inputs["example"],
            "event": inputs["event"],
        }
    )
    made = exset.from_table(both, family="lens", findings=Findings())
    assert isinstance(made, ExampleSet)
    arrays = exset.to_arrays(made)
    whole = exset.to_arrays(exset.load("exset::xor-events.ex", model=ExampleSet))
    assert arrays.inputs.shape == whole.inputs.shape
    assert np.array_equal(arrays.inputs, whole.inputs, equal_nan=True)


def test_no_rows() -> None:
    table = Table.of({"features": np.zeros(0, np.int64)})
    assert exset.dumps(table, format="kaldi_ark") == b""


def test_script_files(tmp_path: Path) -> None:
    one, two = np.arange(12, dtype=np.float32).reshape(4, 3), np.ones((2, 3), np.float32)
    table = Table.of(
        {
            "example": [0] * 4 + [1] * 2,
            "event": [0, 1, 2, 3, 0, 1],
            "name": ["a"] * 4 + ["bb"] * 2,
            "features": np.concatenate([one, two]),
        }
    )
    exset.save(table, tmp_path / "x.ark")
    data = (tmp_path / "x.ark").read_bytes()
    second = data.index(b"bb ") + 3
    (tmp_path / "one").write_bytes(data[2 : second - 3])  # an object without a key
    script = tmp_path / "x.scp"

    folder = str(tmp_path)

    def load(text: str, archives: str = folder) -> Any:
        script.write_text(text)
        found = Findings()
        return exset.load(script, format="kaldi_ark", findings=found, archives=archives)

    assert load(f"a x.ark:2\nbb x.ark:{second}\n") == exset.load(tmp_path / "x.ark")
    given = exset.load(script, archives=folder, findings=Findings())
    assert given == exset.load(tmp_path / "x.ark")
    assert np.array_equal(load("a one\n")["features"].values, one)
    assert np.array_equal(load("a x.ark:2[1:2]\n")["features"].values, one[1:3])
    assert np.array_equal(load("a x.ark:2[1:2,0:1]\n")["features"].values, one[1:3, :2])
    assert np.array_equal(load("a x.ark:2[:,2:2]\n")["features"].values, one[:, 2:])
    assert load("a x.ark:2\nb x.ark:2[0:0]\n").rows == 5
    for wrong in (
        *("a gunzip -c x.ark.gz |\n", "a |cat\n", "a -\n", "a x.ark:3\n", "a x.ark:2[1:4]\n"),
        "a\n",
        *("a x.ark:2[2:1]\n", "a x.ark:2[x]\n", "a x.ark:2[0:0,0:3]\n", "a x.ark:2[0:0,0:0,0:0]\n"),
    ):
        with pytest.raises((FormatError, FileNotFoundError)) as info:
            load(wrong)
        assert "[x]" in wrong or getattr(info.value, "code", "").startswith("ark-"), wrong
    (tmp_path / "inner").mkdir()
    with pytest.raises(OSError):
        load(f"a {tmp_path}/x.ark:2\n", archives=str(tmp_path / "inner"))
    with pytest.raises(FormatError):  # no other files are opened unless asked for
        load("a x.ark:2\n", archives="")
    with pytest.raises(FormatError):  # whatever line comes first, an offset is one of the archive
        load("a one\nb one:7\n")
    with pytest.raises(FormatError):  # bytes name no files
        exset.loads(b"a x.ark:2\n", format="kaldi_ark")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of three vectors; the bytes between the second and the third are damaged."""
    rows = {"name": ["a", "b", "c"], "features": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}
    data = bytearray(exset.dumps(Table.of(rows), format="kaldi_ark"))
    data[data.index(b"c \0")] = 0
    (tmp_path / "x.ark").write_bytes(bytes(data))
    return tmp_path / "x.ark"


def from_script(archive: Path, text: str) -> Table:
    script = archive.with_suffix(".scp")
    script.write_text(text)
    found = exset.load(script, archives=str(archive.parent), findings=Findings())
    assert isinstance(found, Table)
    return found


@pytest.mark.parametrize("is_compressed", [False, True])
def test_only_named_objects_are_read(archive: Path, is_compressed: bool) -> None:
    """Damage elsewhere is no error, and lines may be in any order and name an object twice."""
    size = archive.read_bytes().index(b"b \0")
    if is_compressed:
        archive.with_name("x.ark.gz").write_bytes(gzip.compress(archive.read_bytes()))
        archive.unlink()
    third, first = 2 * size + 2, 2
    found = from_script(archive, f"p x.ark:{third}\nq x.ark:{first}\nr x.ark:{first}[1:1]\n")
    features: Any = found["features"]
    assert [[*each] for each in features] == [[5.0, 6.0], [1.0, 2.0], [2.0]]


@pytest.mark.parametrize("size", [1, 30, 70, 1000])
def test_a_script_that_names_many_objects(
    archive: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objects are the same, however many bytes are read at once."""
    monkeypatch.setattr("exset.codecs.siblings.ark._AHEAD", size)
    rows = [[float(row)] * (row % 7) for row in range(40)]
    keys = [f"key-{row:03}" for row in range(40)]
    data = exset.dumps(Table.of({"name": keys, "features": rows}), format="kaldi_ark")
    archive.write_bytes(data)
    lines = [f"{key} x.ark:{data.index(key.encode()) + 8}\n" for key in keys]
    whole: Any = exset.load(archive)
    assert from_script(archive, "".join(lines)) == whole
    assert from_script(archive, "".join(lines[::9])) == whole[::9]


def test_wrong_places(archive: Path) -> None:
    """An offset beyond the end, inside another object, or of an object that is cut off."""
    size = archive.read_bytes().index(b"b \0")
    inside = matrix(1, 1, 0.5, key=b"")
    archive.write_bytes(archive.read_bytes() + b"d " + inside[:-2])
    for wrong in (999_999_999, 3, size, 3 * size + 2):
        with pytest.raises(FormatError) as error:
            from_script(archive, f"a x.ark:2\nb x.ark:{wrong}\n")
        assert error.value.code == ("syntax" if wrong == 3 * size + 2 else "ark-offset")
    text = b"a [ 1 2 3 4 ]\nb  [\n 1 2\n 3 4 ]\n"
    archive.write_bytes(text)
    assert from_script(archive, "b x.ark:16\n").rows == 2
    for wrong in (4, 6, 40):  # 4 is a vector of integers inside of the other, 6 an end of one
        with pytest.raises(FormatError) as error:
            from_script(archive, f"a x.ark:2\nb x.ark:{wrong}\n")
        assert error.value.code == "ark-offset"


def test_a_script_that_names_an_object_often(archive: Path) -> None:
    """A small script is no large table."""
    rows = Table.of({"features": np.zeros((1, 1 << 18))})
    archive.write_bytes(exset.dumps(rows, format="kaldi_ark"))
    lines = "".join(f"{key} x.ark:2\n" for key in range(100))
    with pytest.raises(exset.LimitError):
        from_script(archive, lines)


@pytest.mark.parametrize("engine", ["table", "reference"])
def test_a_matrix_without_columns_has_no_rows(engine: Engine) -> None:
    """Otherwise a few bytes would be a table of many rows."""
    with pytest.raises(FormatError):
        ark.read(Source("x", matrix(1 << 30, 0)), engine=engine)


def test_script_files_of_others(corpus: Path) -> None:
    folder = corpus / "siblings/kaldi/mini_librispeech2"
    path = folder / "data/raw_mfcc_mini_librispeech2.1.ark"
    whole = exset.load(path, findings=Findings())
    scripts = folder / "feats.scp"
    assert exset.load(scripts, archives=str(folder), findings=Findings()) == whole
    script = path.with_suffix(".scp")
    assert exset.load(script, archives=str(folder), findings=Findings()) == whole


@pytest.mark.parametrize("number", ["1.5", "1e3", "nan", "-inf", ".", "2147483648", "9" * 30])
def test_a_vector_without_brackets_has_integers(number: str) -> None:
    text = f"a 2147483647 -2147483648\nb 3 {number}\n".encode()
    with pytest.raises(FormatError, match=r"32-bit integer|expected a number"):
        exset.loads(text, format="kaldi_ark")
    bracketed = b"c [ 1 ]\n" + text
    if number != ".":
        exset.loads(bracketed, format="kaldi_ark")
