"""Pages about files: what they say, that they load and run nothing, and that markup is text."""

import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import exset
from exset import Dense, Event, Example, ExampleSet, Manifest
from exset.reporting import SAMPLE, ReportOptions, report_of
from tests.cli.command_line import run

pytest.importorskip("matplotlib", reason="the extra plot is not installed")
pytest.importorskip("jinja2", reason="the extra plot is not installed")

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>'\"&{{7*7}}\x1b\u202e\udcff"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


class Page(HTMLParser):
    """Reads a page; sees that nothing in it could run or load."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.text, self.policy, self.style, self.ids = "", "", "", list[str]()
        self.references: list[str] = []
        self.inside: list[str] = []
        self.feed(path.read_text("utf-8"))
        self.close()
        assert len(set(self.ids)) == len(self.ids), "ids are unique"
        assert set(self.references) <= set(self.ids)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "iframe", "object", "embed", "link", "base", "form", "img")
        found = {name: value or "" for name, value in attributes}
        assert not [name for name in found if name.startswith("on") or name == "style"]
        if found.get("http-equiv"):
            self.policy = found["content"]
        self.ids += [found["id"]] if "id" in found else []
        for name in ("href", "src"):
            link = found.get(name, "#")
            assert link.startswith(("#", "data:image/png;base64,")), link
            self.references += [link[1:]] if link[1:] and link.startswith("#") else []
        if tag not in ("meta", "br"):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.inside[-1:] == ["style"]:
            self.style += data
        else:
            self.text += data


def page(tmp_path: Path, *arguments: str, code: int = 0) -> Page:
    out = tmp_path / "out.html"
    done = run("report", *arguments, "-o", str(out))
    assert done.exit_code == code, done.stderr
    return Page(out)


def test_a_page(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ex"
    bad.write_text("[max:] I: 1 0 T: 1;\nI: 1 five;\n")
    found = page(tmp_path, "exset::pulse.ex", str(bad), "exset::captions.tsv", "--title", "Mine")
    for words in (
        *(
            "Mine",
            "Lens example file, text, 565 bytes",
            "4, 4 named",
            "inputs and targets over time",
        ),
        *("1 error, 1 warning", "[lens-missing-value]", "What lens-missing-value means"),
        *("bad.ex:2:6", "I: 1 five;\n     ^^^^", "principal components of inputs", "aeon manifest"),
    ):
        assert words in found.text, words
    digest = b64encode(sha256(found.style.encode()).digest()).decode()
    assert found.policy.startswith("default-src 'none';") and f"'sha256-{digest}'" in found.policy
    for rule in (
        "prefers-color-scheme: dark",
        "max-width: 40rem",
        "@media print",
        ":focus-visible",
    ):
        assert rule in found.style


@pytest.mark.parametrize(
    ("sample", "heads", "cells"),
    [
        ("pulse.ex", ["name", "events", "inputs of the first event"], ["left", "3"]),
        ("captions.tsv", ["STRING", "ASCII_INT"], []),
        ("flowers.sample_list", ["file", "id"], ["data/petals/one.h5", "s/000"]),
        ("pictures.json", ["type", "members"], ["image", "height: "]),
    ],
)
def test_the_first_units(tmp_path: Path, sample: str, heads: list[str], cells: list[str]) -> None:
    _, _, shown = page(tmp_path, f"exset::{sample}").text.partition("The first ")
    assert all(word in shown for word in (*heads, *cells)), shown


def test_a_picture_without_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page(tmp_path, "exset::pictures.json").text
    assert "Not drawn: pictures.tsv: No such file or directory: a relative path starts at" in text
    assert "or at --base" in text


def test_the_fields_of_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("in:\n  speed: {metadata: {scale: 0.5}}\n")
    _, _, shown = page(tmp_path, str(path)).text.partition("The first 1 field")
    assert all(word in shown for word in ("in/speed", "directives", "scale: 0.5")), shown


def test_markup_is_text(tmp_path: Path) -> None:
    """Markup in every field of a file, and in its name."""
    word = EVIL.replace("\x1b", "").replace("\udcff", "")
    event = Event(Dense([1.0], group=word), Dense([0.0], group=word), proc=word)
    evil = ExampleSet.from_examples([Example([event], name=word, proc=word)] * 2)
    path = tmp_path / f"{EVIL[:8]}.bex".replace("/", "")
    exset.save(evil, path, lossy=True)
    rows = [[word, word], [word, "b"]]
    exset.save(Manifest.of(["STRING", "STRING"], rows), tmp_path / "m.tsv")
    numbers = np.eye(2, dtype=np.float32)
    table = exset.Table.of({word: [word, word], "label": [word, "b"], "x": numbers})
    exset.save(table, tmp_path / "t.npz")
    (tmp_path / "bad.ex").write_text(f"name: {{{word}}} I: 1 {word}; T: 1\n", errors="replace")
    files = [str(path), *(str(tmp_path / name) for name in ("m.tsv", "t.npz", "bad.ex"))]
    found = page(tmp_path, *files, "--title", word)
    assert found.text.count("<script>alert(1)</script>") > 5
    assert "{{7*7}}" in found.text and "49" not in re.findall(r"\w+", found.text)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", found.text)


def test_large_files_are_sampled(tmp_path: Path) -> None:
    line = b"I: " + b"0.5 " * 2000 + b"T: 1;\n"
    path = tmp_path / "large.ex"
    path.write_bytes(b";\n" + line * (SAMPLE * 2 // len(line)))
    about, _ = report_of(str(path), ReportOptions())
    assert re.match(r"exset read about the first 1[678]\.\d MB of 33\.\d MB\.", about.sampled)
    assert "--whole" in about.sampled
    small, _ = report_of("exset::xor.ex", ReportOptions())
    assert not small.sampled


def test_differences(tmp_path: Path) -> None:
    out = tmp_path / "d.html"
    one = ExampleSet.from_arrays(np.eye(20, 2, dtype="f4"), None, names=[EVIL] * 20)
    exset.save(one, tmp_path / "a.bex")
    exset.save(one.with_columns(name=["b"] * 20), tmp_path / "b.bex")
    done = run("diff", str(tmp_path / "a.bex"), str(tmp_path / "b.bex"), "--html", str(out))
    assert done.exit_code == 1 and done.stdout.count("\n") == 11
    found = Page(out)
    assert "20 of 20 examples differ" in found.text and "examples[19].name" in found.text
    assert "<script>" in found.text
    assert run("diff", "exset::xor.ex", "exset::xor-binary.bex", "--html", str(out)).exit_code == 0
    assert "equal in meaning" in Page(out).text


def test_a_cache_and_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [[f"text {number}", str(number)] for number in range(50)]
    exset.save(Manifest.of(["STRING", "ASCII_INT"], rows), "m.tsv")
    assert run("cache", "build", "m.tsv", ".", "--block-size", "20").exit_code == 0
    [cache] = [str(each) for each in tmp_path.iterdir() if each.is_dir()]
    found = page(tmp_path, cache)
    assert "aeon cache" in found.text and "text 19" in found.text
    exset.save(Manifest.of(["FILE"], [["none.jpg"]]), "files.tsv")
    assert "images" in page(tmp_path, "files.tsv").text
    assert run("report", "none.ex", "-o", "x.html").exit_code == 3


def test_the_batches_of_a_sampler(tmp_path: Path) -> None:
    labels = tmp_path / "speakers.csv"
    labels.write_text("speaker,file\n" + "".join(f"s{n % 6},{n}.wav\n" for n in range(60)))
    out = tmp_path / "out.html"
    done = run("report", labels, "-o", out, "-n", "3", "-m", "2", "--column", "speaker")
    assert done.exit_code == 0
    assert "each has 3 classes with 2 items" in Page(out).text
    assert "each has 3 classes with 2 items" not in page(tmp_path, str(labels)).text
    for option in (["-n", "3"], ["--column", "speaker"], ["--seed", "2"]):
        assert run("report", labels, "-o", out, *option).exit_code == 2
    done = run("report", "exset::xor.ex", "-o", out, "-n", "3", "-m", "2")
    assert done.exit_code == 0 and "Not drawn" in Page(out).text


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_in_a_browser(tmp_path: Path) -> None:
    """The page opens, with nothing in the console."""
    page(tmp_path, "exset::pulse.ex", "exset::captions.tsv")
    url = (tmp_path / "out.html").as_uri()
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0")
    shot = tmp_path / "shot.png"
    done = subprocess.run(
        [
            str(CHROMIUM),
            *options,
            f"--user-data-dir={tmp_path}/profile",
            f"--screenshot={shot}",
            url,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert shot.stat().st_size > 5_000
    assert "CONSOLE" not in done.stderr and "Refused" not in done.stderr
