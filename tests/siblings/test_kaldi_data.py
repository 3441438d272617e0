"""Data directories of Kaldi."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

import exset
from exset import Findings, FormatError, Table
from exset.core.kernels import Engine
from exset.io.folders import Folder
from exset.runtime.siblings import kaldi_data
from exset.testing.siblings import utterances
from tests.siblings.corpus import verdicts

engines = pytest.mark.parametrize("engine", ["table", "reference"])

OVERLOOKED = ("text-empty-transcript", "text-double-blank", "text-tab", "utt2spk-three-fields")
"""Directories that the checker accepts, though something is wrong."""


@engines
def test_the_corpus(corpus: Path, engine: Engine) -> None:
    folder, seen = corpus / "siblings/kaldi-data-dirs", 0
    for verdict in verdicts(folder):
        findings = Findings()
        table = kaldi_data.read(Folder(folder / verdict.path), findings=findings, engine=engine)
        seen += 1
        if verdict.path == "wav-missing":  # allowed with --no-wav
            verdict = replace(verdict, verdict="accept")
        is_wrong = verdict.verdict != "accept" or verdict.path in OVERLOOKED
        assert bool(findings) == is_wrong, (verdict.path, [str(each) for each in findings])
        assert len(table) > 0
    assert seen > 20


def test_real_directories(corpus: Path) -> None:
    folder, findings = corpus / "siblings/kaldi", Findings()
    table = exset.load(folder / "mini_librispeech", findings=findings)
    assert isinstance(table, Table)
    assert table.names[:3] == ("name", "speaker", "text") and "gender" in table
    other = exset.load(folder / "mini_librispeech2", findings=findings)
    assert isinstance(other, Table) and other.types["begin"] == "float64"


def write(folder: Path, **files: str) -> Path:
    """Write a data directory; `_` in a name stands for a point."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


@given(utterances())
def test_written_utterances_read_back(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    folder = tmp_path_factory.mktemp("data") / "out"
    exset.save(table, folder, format="kaldi_data")
    findings = Findings()
    assert exset.load(folder, findings=findings) == table
    assert not findings


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({"utt2spk": "a s\n", "text": "a x\n"}, []),
        ({"utt2spk": "a s\na s\n"}, ["kaldi-order"]),
        ({"utt2spk": "a s\n\n"}, ["kaldi-line"]),
        ({"utt2spk": "a s"}, ["kaldi-line"]),
        ({"utt2spk": "a s\n", "text": "a\n"}, ["kaldi-line"]),
        ({"utt2spk": "a s\n", "text": "a \udce9\n"}, ["kaldi-line"]),
        ({"utt2spk": "a s\n", "text": "b x\n"}, ["kaldi-utterances"]),
        ({"utt2spk": "a s\n", "spk2gender": "s x\n"}, ["kaldi-value"]),
        ({"utt2spk": "a s\n", "utt2dur": "a x\n"}, ["kaldi-value"]),
        ({"utt2spk": "a s\n", "segments": "a r 1 0.5\n"}, ["kaldi-value"]),
        ({"utt2spk": "a s\n", "segments": "a r 0 1\n", "wav_scp": "q |\n"}, ["kaldi-utterances"]),
    ],
)
@engines
def test_findings(tmp_path: Path, files: dict[str, str], codes: list[str], engine: Engine) -> None:
    findings = Findings()
    folder = Folder(write(tmp_path / "d", **files))
    kaldi_data.read(folder, findings=findings, engine=engine)
    assert [each.code for each in findings] == codes


def test_segments(tmp_path: Path) -> None:
    files = {"utt2spk": "u1 s\nu2 s\n", "segments": "u1 r 0 1.5\nu2 r 1.5 2\n"}
    table = exset.load(write(tmp_path / "d", **files, wav_scp="r a b|\n"), findings=Findings())
    assert isinstance(table, Table)
    assert [*table["audio"]] == ["a b|"] * 2
    exset.save(table, tmp_path / "out", format="kaldi_data")
    assert (tmp_path / "out/wav.scp").read_bytes() == b"r a b|\n"
    assert exset.load(tmp_path / "out", findings=Findings()) == table


def test_errors(tmp_path: Path) -> None:
    (tmp_path / "feats.scp").write_text("a x.ark:5\n")
    with pytest.raises(FormatError) as info:
        exset.load(tmp_path, format="kaldi_data")
    assert info.value.code == "kaldi-folder"
    with pytest.raises(FormatError):
        exset.load(write(tmp_path / "d", utt2spk=" a s\n"))


def test_what_a_directory_cannot_store(tmp_path: Path) -> None:
    cases: tuple[dict[str, object], ...] = (
        {"text": ["a"]},
        {"name": ["a b"]},
        {"name": ["a", "a"]},
        {"name": ["a"], "text": ["x\ny"]},
        {"name": ["a"], "weight": [1.0]},
        {"name": [b"\x1f\x8b"]},
        {"name": ["a"], "speaker": [b"\x28\xb5\x2f\xfd"]},
    )
    for wrong in cases:
        with pytest.raises(FormatError) as info:
            exset.save(Table.of(wrong), tmp_path / "out", format="kaldi_data", findings=Findings())
        assert info.value.code == "table-holds", wrong
