"""Configurations checked with the files that they name."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exset
from exset.core.errors import Findings, Severity
from exset.grammars.aeon.manifest import Manifest
from exset.io.access import Access
from exset.runtime.aeon import config_column
from exset.runtime.aeon.elements import ElementError, file_size
from exset.testing.media import avi, wave
from tests.aeon.configs import AUDIO, IMAGE, VIDEO
from tests.cli.command_line import run

BOXES = {"type": "boundingbox", "height": 4, "width": 6, "max_bbox_count": 2}
CHARS = {"type": "char_map", "max_length": 3, "alphabet": "AB"}
WORDS = {"type": "label_map", "class_names": ["1"], "max_classes": 4}
TEXT_LABEL = {"type": "label", "binary": False}
INT_LABEL = {"type": "label", "binary": True}


def annotation(*names: str, **change: Any) -> str:
    edges = {"xmin": 1, "ymin": 1, "xmax": 2, "ymax": 2}
    objects = [{"bndbox": edges, "name": name} for name in names]
    size = {"width": 6, "height": 4, "depth": 3}
    return json.dumps({"object": objects, "size": size, **change})


def found(manifest: str | None, *etl: dict[str, Any], **members: Any) -> Findings:
    """Write a configuration and its manifest into the current folder, and check them."""
    if manifest is not None:
        Path("m.tsv").write_text(manifest)
    given = {"manifest_filename": "m.tsv", "batch_size": 2, "etl": etl, **members}
    Path("c.json").write_text(json.dumps(given))
    return exset.validate("c.json", check_files=True)


def codes(manifest: str | None, *etl: dict[str, Any], **members: Any) -> list[str]:
    return [finding.code for finding in found(manifest, *etl, **members)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_missing_manifest() -> None:
    assert codes(None, INT_LABEL) == ["aeon-config-file"]
    assert run("validate", "c.json").exit_code == 0
    done = run("validate", "--files", "c.json")
    assert done.exit_code == 1 and "`m.tsv`" in done.stdout
    Path("m.tsv").mkdir()
    assert codes(None, INT_LABEL) == ["aeon-config-file"]


def test_a_manifest_that_aeon_refuses() -> None:
    assert codes("@ASCII_INT\n1\t2\n", INT_LABEL) == ["aeon-record-width"]
    assert codes("@ASCII_INT\n", INT_LABEL) == ["aeon-no-records"]


def test_more_etl_objects_than_columns() -> None:
    """aeon_config accepts it, and aeon fails when it reads the first record."""
    named = [{**INT_LABEL, "name": name} for name in "ab"]
    assert codes("@ASCII_INT\n1\n", *named) == ["aeon-too-few-columns"]
    findings = found("@ASCII_INT\tASCII_INT\n1\t2\n", INT_LABEL)
    assert [(each.code, each.severity) for each in findings] == [
        ("aeon-columns-unused", Severity.NOTE)
    ]


def test_classes_of_annotations() -> None:
    """Each class of an annotation must be in class_names; a class that none has is a warning."""
    Path("a.json").write_text(annotation("cat", "dgo"))
    Path("b.json").write_text(annotation("cat"))
    boxes = {**BOXES, "class_names": ["cat", "dog"]}
    findings = found("@FILE\na.json\nb.json\n", boxes)
    unknown, unused = findings
    assert (unknown.code, unused.code) == ("aeon-class-unknown", "aeon-class-unused")
    assert unknown.place is not None and (unknown.place.line, unknown.place.field) == (2, "[0][0]")
    assert unknown.hint == "did you mean 'dog'?" and "'dog'" in unused.message
    Path("a.json").write_text(annotation("dog"))
    assert codes("@FILE\na.json\nb.json\n", boxes) == []
    assert codes(f"@STRING\n{annotation('dog', 'cat')}\n", boxes) == []
    words = {"type": "label_map", "class_names": ["cat", "dog"], "max_classes": 4}
    assert codes("@STRING\ncat dog\ncat\n", words) == []
    assert codes("@STRING\ncat bird\n", words) == ["aeon-class-unknown", "aeon-class-unused"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "syntax"),
        ('{"object": NaN}', "syntax"),
        ("[" * 5000 + "]" * 5000, "limit"),
        ("[" * 33 + "]" * 33, "limit"),
        ('[{"a":' * 16 + "1" + "}]" * 16, "aeon-element"),
        ("[]", "aeon-element"),
        (annotation(size=3), "aeon-element"),
        (annotation(object={}), "aeon-element"),
        (annotation(object=[1]), "aeon-element"),
        (annotation(object=[{"name": "cat"}]), "aeon-element"),
        (annotation("cat").replace(': "cat"', ": 1"), "aeon-element"),
        (annotation("cat").replace('"name"', '"Name"'), "aeon-element"),
        (annotation("cat").replace('"xmin": 1', '"xmin": "1"'), "aeon-element"),
        (annotation("cat").replace('"name"', '"difficult": 1, "name"'), "aeon-element"),
    ],
)
def test_annotations_that_aeon_refuses(text: str, code: str) -> None:
    Path("a.json").write_text(text)
    assert codes("@FILE\na.json\n", {**BOXES, "class_names": ["cat"]}) == [code]


@pytest.mark.parametrize(
    ("manifest", "etl", "expected"),
    [
        ("@ASCII_INT\n7\n", TEXT_LABEL, "aeon-column"),
        ("@STRING\n7\n", INT_LABEL, "aeon-element"),
        ("@STRING\nseven\n", TEXT_LABEL, "aeon-element"),
        ("@STRING\n99999999999\n", TEXT_LABEL, "aeon-element"),
        ("@STRING\n" + "9" * 5000 + "\n", TEXT_LABEL, "aeon-element"),
        ("@STRING\n 8x\n", TEXT_LABEL, None),
        ("@ASCII_FLOAT\n7\n", INT_LABEL, "aeon-later"),
        ("@STRING\n1234\n", INT_LABEL, None),
        ("@BINARY\nQUJD\n", INT_LABEL, "aeon-element"),
        ("@STRING\ta.jpg\n", IMAGE, "syntax"),
        ("@STRING\na.jpg\n", IMAGE, "aeon-column"),
        ("@ASCII_INT\n1\n", IMAGE, "aeon-column"),
        ("@FILE\nc.json\n", IMAGE, "aeon-no-picture"),
        ("@BINARY\n/9j/4AAQ\n", IMAGE, None),
        ("@ASCII_FLOAT\n1\n", {"type": "blob", "output_count": 1}, None),
        ("@ASCII_FLOAT\n1\n", {"type": "blob", "output_count": 2}, "aeon-blob-short"),
        ("@BINARY\nQUJDREVGR0g=\n", {"type": "blob", "output_count": 1}, "aeon-blob-long"),
        ("@ASCII_INT\n1\n", CHARS, "aeon-later"),
        (
            "@BINARY\n6Q==\n",
            CHARS,
            "aeon-element",
        ),
        (
            "@ASCII_INT\n1\n",
            WORDS,
            "aeon-column",
        ),
        (
            "@BINARY\nQUJD\n",
            {"type": "video", "max_frame_count": 2, "frame": {"height": 3, "width": 3}},
            "aeon-element",
        ),
    ],
)
def test_columns_that_aeon_cannot_decode(
    manifest: str, etl: dict[str, Any], expected: str | None
) -> None:
    assert codes(manifest, etl) == ([expected] if expected else [])


def test_empty_elements() -> None:
    assert codes("@STRING\tASCII_INT\n\t1\n", TEXT_LABEL, {**INT_LABEL, "name": "b"}) == [
        "aeon-element"
    ]
    Path("e.jpg").touch()
    assert codes("@FILE\ne.jpg\n", IMAGE) == ["aeon-file-empty", "aeon-element"]


def test_relative_paths_and_roots(folder: Path) -> None:
    """They start at the current folder of aeon: the manifest's too, and those of its root."""
    (folder / "run" / "data").mkdir(parents=True)
    (folder / "run" / "data" / "a.json").write_text(annotation("cat"))
    (folder / "run" / "m.tsv").write_text("@FILE\na.json\n")
    found(None, {**BOXES, "class_names": ["cat"]}, manifest_root="data")
    assert exset.validate("c.json", check_files=True).count("aeon-config-file") == 1
    assert not len(exset.validate("c.json", check_files=True, base="run"))
    access = Access(roots=("run/data",))
    findings = exset.validate("c.json", check_files=True, base="run", access=access)
    assert [each.code for each in findings] == ["aeon-file-outside"]
    done = run("validate", "--files", "--base", "run", "--untrusted", "c.json")
    assert done.exit_code == 0


def test_the_cache_directory() -> None:
    assert codes("@ASCII_INT\n1\n", INT_LABEL, cache_directory="no") == ["aeon-cache-directory"]
    Path("no").mkdir()
    assert codes("@ASCII_INT\n1\n", INT_LABEL, cache_directory="no") == []
    manifest = "@ASCII_INT\n" + "1\n" * 16
    expected = ["aeon-cache-empty-block"]
    assert codes(manifest, INT_LABEL, cache_directory="no", block_size=3) == expected


def test_lists_of_noises() -> None:
    sound = {
        **{"type": "audio", "max_duration": "1 seconds", "frame_stride": "10 milliseconds"},
        **{"frame_length": "25 milliseconds", "noise_index_file": "n.txt", "noise_root": "noise"},
    }
    Path("a.wav").write_bytes(wave(bytes(800)))
    manifest = "@FILE\na.wav\n"
    missing = ["aeon-config-file", "aeon-dialect"]
    assert codes(manifest, sound) == missing
    Path("n.txt").write_text("")
    assert codes(manifest, sound) == missing
    Path("n.txt").write_text("one.wav\n")
    assert codes(manifest, sound) == missing
    Path("noise").mkdir()
    Path("noise/one.wav").write_bytes(wave(b""))
    assert codes(manifest, sound) == ["aeon-dialect"]


def test_sounds_and_videos() -> None:
    """All parts of their files are read."""
    sounds = {"a": wave(bytes(800)), "b": wave(bytes(9)), "c": wave(b"", bits=8)}
    for name, data in {**sounds, "d": wave(bytes(800), rate=8000), "e": b"RIFF"}.items():
        Path(name).write_bytes(data)
    bad, rate = "aeon-element", "aeon-sound-rate"
    assert codes("@FILE\na\nb\nc\nd\ne\n", AUDIO) == ["aeon-dialect", bad, bad, rate, bad]
    for name, data in {"f": avi([b"x"]), "g": avi([b"x"], index=False), "h": avi([])}.items():
        Path(name).write_bytes(data)
    assert codes("@FILE\nf\ng\nh\n", VIDEO) == ["aeon-avi-index", "aeon-element"]


def test_decoding() -> None:
    """Pictures are decoded only on request."""
    cv2 = pytest.importorskip("cv2")
    good = bytes(cv2.imencode(".png", np.zeros((4, 6, 3), np.uint8))[1])
    Path("a.png").write_bytes(good)
    Path("b.png").write_bytes(good[:-20])
    Path("c.avi").write_bytes(avi([good, good[:-20]]))
    manifest = "@FILE\tFILE\na.png\tc.avi\nb.png\tc.avi\n"
    assert codes(manifest, IMAGE, VIDEO) == []
    findings = exset.validate("c.json", check_files=True, decode=True)
    places = [(each.code, each.place and each.place.field) for each in findings]
    assert places == [("aeon-element", f"[{place}]") for place in ("0][1", "1][0", "1][1")]
    assert "frame 1" in next(iter(findings)).message
    assert run("validate", "--files", "--decode", "c.json").exit_code == 1
    assert run("validate", "--decode", "c.json").exit_code == 2


def test_decoding_follows_the_whole_record() -> None:
    """Annotations are provided, too, with the picture of their record; each element counts once."""
    cv2 = pytest.importorskip("cv2")
    for name, shape in (("a.png", (4, 6)), ("b.png", (40, 60))):
        Path(name).write_bytes(bytes(cv2.imencode(".png", np.zeros((*shape, 3), np.uint8))[1]))
    box = {"name": "cat", "bndbox": {"xmin": 0, "ymin": 0, "xmax": 9, "ymax": 2}}
    dog = {**box, "name": "dog"}
    annotation = {"object": [box], "size": {"width": 6, "height": 4, "depth": 3}}
    for name, given in (("a.json", annotation), ("b.json", {**annotation, "object": [dog]})):
        Path(name).write_text(json.dumps(given))
    Path("e.json").write_text("")
    boxes = {"type": "localization_ssd", "height": 4, "width": 6, "class_names": ["cat"]}
    manifest = "@FILE\tFILE\na.json\ta.png\nb.json\tb.png\na.json\tgone.png\ne.json\ta.png\n"
    whole = {"augmentation": [{"type": "image", "crop_enable": False}]}
    before = Counter(codes(manifest, boxes, IMAGE, **whole))
    once = ["aeon-class-unknown", "aeon-element", "aeon-file-empty", "aeon-file-missing"]
    once.append("aeon-size-differs")
    assert before == {"aeon-box-outside": 3, **dict.fromkeys(once, 1)}
    decoded = exset.validate("c.json", check_files=True, decode=True)
    assert Counter(each.code for each in decoded) == before + Counter({"aeon-element": 2})


def test_missing_noises_of_a_list_are_one_finding() -> None:
    etl = {
        **{"type": "audio", "max_duration": "1 seconds", "frame_stride": "10 milliseconds"},
        **{"frame_length": "25 milliseconds", "noise_index_file": "n.txt", "noise_root": "noise"},
    }
    Path("a.wav").write_bytes(wave(bytes(800)))
    Path("n.txt").write_text("".join(f"{number}.wav\n" for number in range(50)))
    findings = found("@FILE\na.wav\n", etl)
    [finding] = [each for each in findings if each.code == "aeon-config-file"]
    assert "49 other files" in finding.message and findings.count("aeon-config-file") == 1


def test_a_file_next_to_the_configuration(folder: Path) -> None:
    """exset and aeon look in the current folder; the hint says where the file is."""
    (folder / "run").mkdir()
    (folder / "run" / "m.tsv").write_text("@FILE\na.jpg\n")
    (folder / "run" / "c.json").write_text(
        json.dumps({"manifest_filename": "m.tsv", "batch_size": 1, "etl": [IMAGE]})
    )
    [finding] = exset.validate("run/c.json", check_files=True)
    assert finding.code == "aeon-config-file"
    assert (
        finding.hint
        and finding.hint.startswith("the file is in 'run':")
        and "base=" in finding.hint
    )


def test_each_file_is_inspected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    inspected: list[int] = []

    def size(manifest: Manifest, record: int, *place: Any) -> int | ElementError:
        inspected.append(record)
        return file_size(manifest, record, *place)

    monkeypatch.setattr(config_column, "file_size", size)
    for name in ("a", "b", "c"):
        Path(f"{name}.jpg").write_bytes(b"\xff\xd8\xff")
    assert codes("@FILE\na.jpg\nb.jpg\nc.jpg\n", IMAGE) == []
    assert inspected == [0, 1, 2]


def test_many_findings_are_counted() -> None:
    findings = found("@STRING\n" + "x\n" * 1000, TEXT_LABEL)
    assert findings.count("aeon-element") == 1000 and len(list(findings)) == findings.keep


CHECKED = (
    *("box_", "label_", "lmap_", "char_", "blob_", "too_few", "bad_missing", "norm_", "rgb_"),
    *("aug_", "aud_win", "otype_", "etl_"),
)
"""The beginnings of the names of cases whose errors exset finds."""


def test_verdicts_of_the_real_loader(corpus: Path) -> None:
    """No error where aeon has none; and the errors of manifests, labels and annotations."""
    folder = corpus / "aeon" / "provision"
    header, *rows = (line.split("\t") for line in (folder / "results.tsv").read_text().splitlines())
    tally: Counter[tuple[str, bool]] = Counter()
    missed = []
    for row in rows:
        case = dict(zip(header, row, strict=False))
        name, version = case["case"], case["version"]
        path = folder / "cases" / f"{name}.{version}.json"
        found = exset.validate(path, check_files=True, base=folder, dialect=version)
        is_error = found.worst is Severity.ERROR
        if name.startswith(CHECKED) and case["verdict"] in ("error", "crash") and not is_error:
            missed.append(name)
        tally[case["verdict"], is_error] += 1
        if case["verdict"] == "ok" and is_error:
            assert {each.code for each in found} == {"aeon-blob-long"}, (name, [*map(str, found)])
    assert set(missed) == {"box_angle"}
    assert tally["ok", False] > 300 and tally["error", True] > 50 and tally["crash", True] > 25


@pytest.mark.parametrize("version", ["head", "seed"])
def test_verdicts_of_the_demo_of_the_loader(corpus: Path, version: str) -> None:
    folder = corpus / "aeon" / "loader"
    lines = (folder / "results.log").read_text().splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("--- ")]
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        _, name, of_version = lines[begin].split()
        if of_version != version:
            continue
        path = folder / f"{name}.json"
        if name == "label_map_default":  # a crash, but exset has a warning about max_classes
            continue
        found = exset.validate(path, check_files=True, base=folder, dialect=version)
        ok = any(line == "rc 0" for line in lines[begin:end])
        assert (found.worst is Severity.ERROR) == (not ok), (name, [*map(str, found)])
