"""`exset sampler plan`, and the files that labels are read from."""

import io
import json
import tempfile
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import Findings, FormatError
from exset.labels import read_labels
from tests.cli import command_line

LABELS = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]


def run(*arguments: object) -> Result:
    return command_line.run("sampler", "plan", *arguments)


@pytest.fixture
def npy(tmp_path: Path) -> Path:
    path = tmp_path / "labels.npy"
    np.save(path, np.array(LABELS))
    return path


def test_a_plan(npy: Path) -> None:
    shown = run(npy, "-n", 2, "-m", 2, "--world-size", 2)
    assert shown.exit_code == 0, shown.output
    assert (
        shown.stdout
        == (
            "items        10 items in 3 classes; the largest class has 5 items\n"
            "too small    0 classes with fewer than 2 items\n"
            "batches      3 batches of 2 classes x 2 items, 3 of them with 2 distinct classes\n"
            "ranks        2 ranks, 2 batches for each, 1 batch repeated\n"
            "coverage     100.00% of the items are drawn: 10 items\n"
            "repeats      6 of the 16 drawn items were drawn before\n"
        )
        + shown.stdout[shown.stdout.index("imbalance") :]
    )
    row = json.loads(run(npy, "-n", 2, "-m", 2, "--world-size", 2, "--json").stdout)
    assert row["schema"] == 1 and row["sampler"] == "PlannedNxMSampler"
    assert (row["items"], row["batches"], row["batches_per_replica"]) == (10, 3, 2)
    assert row["coverage"] == 1 and row["repeats"] == 6


def test_other_samplers(npy: Path) -> None:
    for name in ("random", "balr.samplers.nxm_samplers.ExhaustiveNxMSampler"):
        assert run(npy, "-n", 2, "-m", 2, "--sampler", name).exit_code == 0
    dropped = run(npy, "-n", 2, "-m", 2, "--world-size", 9, "--drop-last")
    assert "9 ranks, 0 batches for each, 3 batches dropped" in dropped.stdout
    assert "some classes are never" in dropped.stdout


def test_what_cannot_be_meant(npy: Path, tmp_path: Path) -> None:
    assert run(npy, "-n", 4, "-m", 2).exit_code == 2
    assert "Not enough classes (3)" in run(npy, "-n", 4, "-m", 2).stderr
    assert run(npy, "-n", 2, "-m", 2, "--sampler", "os.system").exit_code == 2
    assert run(npy, "-n", 0, "-m", 2).exit_code == 2
    assert "must be at most 4,294,967,295" in run(npy, "-n", 1, "-m", 1 << 80).stderr
    assert run(tmp_path / "none.npy", "-n", 2, "-m", 2).exit_code == 3


def test_kinds_of_files(tmp_path: Path) -> None:
    names = [f"s{label}" for label in LABELS]
    table = "".join(f"file{number},{name}\n" for number, name in enumerate(names))
    (tmp_path / "named.csv").write_text("path,speaker\n" + table)
    (tmp_path / "bare.csv").write_text(table)
    (tmp_path / "label.tsv").write_text("path\tlabel\n" + table.replace(",", "\t"))
    (tmp_path / "two.tsv").write_text("#\n@FILE\tSTRING\n" + table.replace(",", "\t"))
    more = "".join(f"a\t{name}\t1\n" for name in names)
    (tmp_path / "three").write_text("@FILE\tSTRING\tASCII_INT\n" + more)
    (tmp_path / "one.csv").write_text("speaker\n" + "\n".join(names))
    with h5py.File(tmp_path / "labels.h5", "w") as file:
        file["labels"] = LABELS
        file["other"] = LABELS
        file["deep/names"] = names
        file["flat"] = [[1, 2]]
        file["ragged"] = np.array([np.arange(2), np.arange(3)], object).astype(
            h5py.vlen_dtype(np.int64)
        )
        file["soft"] = h5py.SoftLink("/labels")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/labels")
    read = {
        "named.csv": "speaker",
        "bare.csv": "1",
        "two.tsv": None,
        "three": "1",
        "label.tsv": None,
        "one.csv": "speaker",
        "labels.h5": "deep/names",
    }
    for file_name, column in read.items():
        assert list(read_labels(str(tmp_path / file_name), column)) == names, file_name
    assert list(read_labels(str(tmp_path / "labels.h5"))) == LABELS
    wrong = [
        *[("named.csv", name) for name in (None, "nothing", "2", "-1")],
        *[("two.tsv", name) for name in ("2", "-1", "label")],
        ("one.csv", None),  # whose first line may be an item
        *[
            ("labels.h5", name)
            for name in ("flat", "ragged", "soft", "elsewhere", "deep", "no/thing")
        ],
    ]
    for file_name, column in wrong:
        with pytest.raises(FormatError) as caught:
            read_labels(str(tmp_path / file_name), column)
        assert caught.value.code == "labels"


@pytest.mark.parametrize(
    ("text", "is_header"),
    [
        ("path,speaker\na.wav,s1\nb.wav,s2\n", True),
        ("name,label\nx,0\ny,1\n", True),
        ("who\n" + "eve\ntom\n" * 2, True),
        ("\npath,who\nx/a,eve\nx/b,eve\n", True),
        ("a.wav,s1\nb.wav,s2\nc.wav,s2\n", False),
        ("a.wav,s1\n" + "b.wav,s2\nc.wav,s3\n" * 2, False),
        ("ann\neve\ntom\neve\n", False),
        ("0\n1\n1\n2\n2\n", False),
        ("eve\n", False),
        ("", False),
    ],
)
def test_a_first_line_of_names(text: str, is_header: bool, tmp_path: Path) -> None:
    """A column given by its number makes the first line an item, even if it has names."""
    path = tmp_path / "labels.csv"
    path.write_text(text)
    number = "1" if "," in text else "0"
    findings = Findings()
    labels = read_labels(str(path), number, findings=findings)
    assert len(labels) == len(text.split())
    assert findings.count("labels-header") == findings.count() == is_header
    if is_header:
        findings = Findings(strict=True)
        assert read_labels(str(path), str(labels[0]), findings=findings) == labels[1:]
        shown = run(path, "-n", 1, "-m", 1, "--column", number)
        assert shown.exit_code == 0 and "[labels-header]" in shown.stderr
        assert run(path, "-n", 1, "-m", 1, "--column", number, "--strict").exit_code == 1


def save(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(array), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        save(LABELS)[:-1],
        save([LABELS]),
        save(["a", None]),
        save([1j]),
        save(LABELS).replace(b"(10,)", b"(99,)"),
        save(LABELS).replace(b"(10,)", b"(-1,)"),
        save(LABELS)[:20],
        b"\x93NUMPY\x07\x00",
        b"label,b\n\n1,2\n,3\n",
        b"b,label\nc\n",
        b"@FILE\tSTRING\na\tb\nc\t\n",
        b"@FILE\tSTRING\na\tb\nc\n",
        b"@\n",
        b"# nothing\n\n",
        b"PK\3\4\0label",
        b"\xff\xfel\0a\0b\0e\0l\0\n\0",
        b'label,x\n"open',
        b"\x89HDF\r\n\x1a\n" + b"\0" * 99,
    ],
)
def test_files_that_hold_no_labels(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "labels"
    path.write_bytes(data)
    with pytest.raises(FormatError):
        read_labels(str(path))
    assert run(path, "-n", 1, "-m", 1).exit_code == 1


def test_a_line_without_a_label_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text('path,label\n"a\nb",1\n\nc,\n')
    shown = run(path, "-n", 1, "-m", 1)
    assert shown.exit_code == 1
    assert f"{path}:5: the label is empty (column 1)" in shown.stderr


@given(st.binary(max_size=60), st.sampled_from([b"", save(LABELS)[:70], b"label\n"]))
def test_any_bytes(data: bytes, begin: bytes) -> None:
    """Any file gives labels or a FormatError."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(begin + data)
        file.flush()
        with suppress(FormatError):
            read_labels(file.name)


def test_a_column_with_a_name_of_digits(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("0,2,1\na,b,c\nd,e,f\n")
    assert read_labels(path, "1") == ["2", "b", "e"]  # a number: the first line is an item
    assert read_labels(path, '"1"') == ["c", "f"] and read_labels(path, '"2"') == ["b", "e"]
    for column in ("7", '"7"'):
        with pytest.raises(FormatError) as caught:
            read_labels(path, column)
        assert caught.value.code == "labels" and "quotation marks" in (caught.value.hint or "")
