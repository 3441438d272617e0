"""Files of a manifest that do not exist, and likely mistakes in their paths."""

import os
import unicodedata
from pathlib import Path

import pytest

import exset
from exset import Findings, FormatError
from exset.io.access import Access
from tests.cli.command_line import run

NAMES = [f"cat/{number}.jpg" for number in range(5)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `data/cat/*.jpg` and an empty folder `other`; it is the current folder."""
    (tmp_path / "data" / "cat").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    for name in NAMES:
        (tmp_path / "data" / name).write_bytes(b"x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(*paths: str, base: str = "", access: Access | None = None) -> Findings:
    """Return the findings of a manifest of some paths."""
    Path("m.tsv").write_text("@FILE\n" + "".join(f"{path}\n" for path in paths))
    return exset.validate("m.tsv", check_files=True, base=base, access=access or Access())


def hint_of(*paths: str, base: str = "") -> str:
    [finding] = checked(*paths, base=base)
    return finding.hint or ""


def test_one_finding_if_all_files_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for base in ("", "other", "none"):
        [finding] = checked(*NAMES, base=base)
        assert finding.code == "aeon-files-missing"
        assert finding.place and finding.place.line == 2
        assert (base or os.getcwd()) in finding.message
        assert finding.hint and "base=FOLDER" in finding.hint and " 'data':" in finding.hint
    monkeypatch.chdir("other")
    done = run("validate", "--files", "../m.tsv")
    assert done.exit_code == 1 and done.stdout.count("hint:") == 1
    assert os.getcwd() in done.stdout and "../data': name this folder with --base" in done.stdout
    assert not checked(*NAMES, base="../data").count()


def test_one_finding_if_most_files_are_missing() -> None:
    findings = checked(*NAMES[:2], *(f"no/{number}" for number in range(5)), base="data")
    assert [each.code for each in findings] == ["aeon-files-missing"]
    findings = checked(*NAMES, *(f"no/{number}" for number in range(5)), base="data")
    assert findings.count("aeon-file-missing") == findings.count() == 5
    assert not any(each.hint for each in findings)


def test_absolute_paths_do_not_start_at_the_base() -> None:
    [finding] = checked("/no/1.jpg", "/no/2.jpg")
    assert finding.code == "aeon-files-missing" and os.getcwd() not in finding.message
    assert finding.hint and finding.hint.startswith("absolute paths")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ('"data/cat/0.jpg"', "quotation marks"),
        ("'data/cat/0.jpg'", "quotation marks"),
        ("data/cat/0.jpg ", "space"),
        (" data/cat/0.jpg", "space"),
        ("data\\cat\\0.jpg", "write / between folders"),
        ("C:\\data\\cat\\0.jpg", "Windows"),
        ("~/data/cat/0.jpg", "home folder"),
        ("$HOME/cat/0.jpg", "variables"),
        ("https://example.org/0.jpg", "URLs"),
        ("Data/CAT/0.JPG", "did you mean data/cat/0.jpg?"),
        ("data/cat/0.jpg\r", "carriage return"),
        ("link.jpg", "a link to a file that does not exist"),
    ],
)
def test_likely_mistakes(path: str, words: str) -> None:
    Path("link.jpg").symlink_to("nowhere")
    findings = checked(path)
    [finding] = [each for each in findings if each.code == "aeon-file-missing"]
    assert finding.hint and words in finding.hint
    assert finding.place and finding.place.line == 2
    with pytest.raises(FormatError) as caught:
        exset.dataset("m.tsv", findings=Findings()).batch([0])
    assert caught.value.code == "aeon-file" and words in str(caught.value.hint)


def test_the_same_mistake_in_most_paths_is_one_finding() -> None:
    [finding] = checked(*(f'"data/{name}"' for name in NAMES))
    assert finding.code == "aeon-files-missing" and "quotation marks" in str(finding.hint)
    [finding] = checked(*(f"data/{name.upper()}" for name in NAMES))
    assert finding.code == "aeon-files-missing" and "data/cat/0.jpg" in str(finding.hint)


def test_the_same_mistake_in_some_paths_is_explained_once() -> None:
    findings = checked(*NAMES, *(name.upper() for name in NAMES), base="data")
    hints = [str(each.hint) for each in findings]
    assert len(hints) == 5 and sum("case matters in names" in hint for hint in hints) == 1
    meant = [f"did you mean data/{name}?" for name in NAMES]
    assert all(each in hint for each, hint in zip(meant, hints, strict=True))


def test_the_name_of_the_base_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "already start in the folder 'data':" in hint_of("data/cat/0.jpg", base="data")
    assert "already start in the folder 'data/cat':" in hint_of("data/cat/0.jpg", base="data/cat")
    monkeypatch.chdir("data")
    assert "already start in the folder 'data':" in hint_of("data/cat/0.jpg")


def test_accents_of_another_form() -> None:
    composed, other = (unicodedata.normalize(form, "é.jpg") for form in ("NFC", "NFD"))
    Path(composed).write_bytes(b"x")
    assert composed in hint_of(other)


def test_roots_limit_what_is_examined() -> None:
    access = Access(roots=("other",))
    [finding] = checked("no.jpg", "NO.jpg", base="other", access=access)
    assert finding.hint and "data" not in finding.hint
    Path("other/link").symlink_to("../data")
    findings = checked("link/cat/9.jpg", base="other", access=access)
    assert [each.code for each in findings] == ["aeon-file-outside"]


def test_errors_of_the_system_are_no_missing_files() -> None:
    Path("loop").symlink_to("loop")
    findings = checked("x" * 1000, "loop/a.jpg")
    assert [each.code for each in findings] == ["aeon-file", "aeon-file"]


def test_a_configuration_names_its_own_setting() -> None:
    checked(*NAMES)
    text = '{"manifest_filename": "m.tsv", "manifest_root": "other", "batch_size": 1, "etl": []}'
    Path("c.json").write_text(text)
    found = {each.code: each for each in exset.validate("c.json", check_files=True)}
    hint = str(found["aeon-files-missing"].hint)
    assert "manifest_root" in hint and "base=" not in hint


def test_a_dataset_names_its_base() -> None:
    checked(*NAMES)
    with pytest.raises(FormatError) as caught:
        exset.dataset("m.tsv").batch([1])
    assert caught.value.code == "aeon-file" and "base=FOLDER" in str(caught.value.hint)
    done = run("convert", "m.tsv", "m.cpio")
    assert done.exit_code == 1 and "--base FOLDER" in done.stderr
    Path("caches").mkdir()
    done = run("cache", "build", "m.tsv", "caches")
    assert done.exit_code == 1 and "--base FOLDER" in done.stderr


def test_deep_and_many_paths_take_little_time() -> None:
    paths = ["A/" * 2000 + "x", *(f"Data/{number}" for number in range(3000))]
    assert checked(*paths).count()
