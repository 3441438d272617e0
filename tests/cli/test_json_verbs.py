"""The JSON of all commands."""

import json
import os
from base64 import b64decode
from pathlib import Path

import h5py
import pytest

import exset
from exset import Manifest
from exset.cli.json_text import line_of
from tests.cli.command_line import CAN_DRAW, run


def row(*arguments: str) -> dict[str, object]:
    """Return the one object that a command writes."""
    done = run(*arguments, "--json")
    assert done.exit_code == 0 and done.stderr == "", done.output
    found: dict[str, object] = json.loads(done.stdout)
    assert found["schema"] == 1
    return found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to an empty folder."""
    inside = tmp_path / "in"
    inside.mkdir()
    monkeypatch.chdir(inside)


def test_rows_of_commands_that_read_nothing() -> None:
    for verb in ("formats", "explain limit", "demo new"):
        for line in run(*verb.split(), "--json").stdout.splitlines():
            found = json.loads(line)
            assert list(found)[:3] == ["schema", "ok", "error"] and found["ok"] is True
    rows = [json.loads(line) for line in run("demo", "--json", "new").stdout.splitlines()]
    assert {"name": "xor.ex", "converted": "xor.bex", "units": 4}.items() <= rows[-1].items()
    done = run("demo", "--json", ".")
    failed = json.loads(done.stdout)
    assert done.exit_code == 3 and failed["error"]["code"] == "system"
    assert failed.keys() == rows[0].keys() and failed["folder"] == "."


def test_repair_has_the_same_keys_with_and_without_a_manifest() -> None:
    exset.save(Manifest.of(["STRING"], [["a"], ["b"], ["c"]]), "m.tsv")
    built = row("cache", "build", "m.tsv", ".", "--block-size", "2")
    name = str(built["folder"])
    repaired = row("cache", "repair", name, "--manifest", "m.tsv")
    looked = row("cache", "repair", name)
    assert list(repaired) == list(looked)
    assert (looked["written"], looked["kept"]) == ([], [])
    for key in ("uid", "complete", "records", "blocks", "intact"):
        assert repaired[key] == looked[key] == built[key]


def test_lists_and_schemas() -> None:
    with h5py.File("a.h5", "w", track_order=True) as file:
        for name in "xyz":
            file[f"{name}/field"] = 1.0
    for arguments in (
        ("list", "build", "a.h5"),
        ("edit", "--shuffle", "l.sample_list"),
    ):
        found = row(*arguments, "-o", "l.sample_list")
        assert (found["file"], found["units"], found["format"]) == (
            "l.sample_list",
            3,
            "sample_list",
        )
    assert run("list", "build", "a.h5", "--json").exit_code == 2
    found = row("schema", "build", "a.h5", "-o", "data.yaml")
    assert (found["fields"], found["samples"]) == (1, 3)
    assert run("schema", "build", "a.h5", "--json").exit_code == 2


def test_manifests_and_caches() -> None:
    rows: list[list[str | int]] = [["a", 1], ["b", 2], ["c", 2]]
    exset.save(Manifest.of(["STRING", "ASCII_INT"], rows), "m.tsv")
    assert row("manifest", "balance", "m.tsv", "-o", "even.tsv")["units"] == 4
    built = row("cache", "build", "m.tsv", ".", "--block-size", "2")
    assert (built["written"], built["kept"]) == ([0, 1], [])
    name = str(built["folder"])
    assert row("cache", "repair", name, "--manifest", "m.tsv")["kept"] == [0, 1]
    assert row("cache", "repair", name)["ok"] is True
    found = row("cache", "extract", name, "-o", "out", "--types", "STRING,ASCII_INT")
    assert found["records"] == 3


FAILING = (
    "diff exset::xor.ex no.ex",
    "split no.ex a.ex=1 b.ex=rest",
    "list merge no.sample_list -o l.sample_list",
    "manifest balance no.tsv -o m.tsv",
    "schema show no.yaml no.yaml",
    "schema build no.h5 -o d.yaml",
    "cache predict no.tsv",
    "cache build no.tsv .",
    "cache check no",
    "cache repair no --manifest no.tsv",
    "cache extract no -o out",
    "config show no.json",
    "sampler plan no.csv -n 1 -m 1",
    "plot no.ex -o a.svg",
    "report no.ex -o a.html",
    "cache repair no",
    "manifest build no.csv --types STRING -o m2.tsv",
    "info no.ex",
    "stats no.ex",
    "validate no.ex",
    "convert no.ex x.bex",
    "edit no.ex -o x.ex",
)
WORKING = (
    "diff exset::xor.ex exset::xor.ex",
    "split exset::xor.ex a.ex=1 b.ex=rest",
    "list merge exset::flowers.sample_list -o l.sample_list",
    "manifest balance m.tsv -o even.tsv",
    "schema show d.yaml d.yaml",
    "schema build a.h5 -o d.yaml",
    "cache predict m.tsv",
    "cache build m.tsv .",
    "cache check CACHE",
    "cache repair CACHE --manifest m.tsv",
    "cache extract CACHE -o out",
    "config show exset::pictures.json",
    "sampler plan m.tsv -n 1 -m 1 --column 1",
    "plot exset::xor.ex -o a.svg",
    "report exset::xor.ex -o a.html",
    "cache repair CACHE",
    "manifest build t.csv --types STRING -o m2.tsv",
    "info exset::xor.ex",
    "stats exset::xor.ex",
    "validate exset::xor.ex",
    "convert exset::xor.ex x.bex",
    "edit exset::xor.ex -o x.ex",
)
SHAPE = {"schema", "ok", "error"}
ODD = os.fsdecode(b"\xff\xc3")
"""Bytes that are not UTF-8, in a name."""


def strict(line: str) -> dict[str, object]:
    """Read an object as RFC 8259 and I-JSON demand: no surrogates, no NaN, no name twice."""

    def unique(members: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in members]
        assert len(set(names)) == len(names), names
        return dict(members)

    def refuse(word: str) -> None:
        raise AssertionError(word)

    assert line.isascii()
    found: dict[str, object] = json.loads(line, object_pairs_hook=unique, parse_constant=refuse)
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def odd(argument: str) -> str:
    """Return an argument with all names of files changed to names that are not UTF-8."""
    stem, dot, suffix = argument.rpartition(".")
    is_name = (dot and stem and not stem.startswith("exset::")) or argument in ("out", "no")
    return f"{stem}{ODD}.{suffix}" if is_name and dot else argument + ODD * bool(is_name)


def test_names_that_are_not_utf_8() -> None:
    """Every command writes JSON that a strict reader takes, and the bytes of each such name."""
    exset.save(Manifest.of(["STRING", "ASCII_INT"], [["a", 1], ["b", 2]]), odd("m.tsv"))
    with h5py.File("a.h5", "w", track_order=True) as file:
        file["x/field"] = 1.0
    Path("a.h5").rename(odd("a.h5"))
    assert run("schema", "build", odd("a.h5"), "-o", odd("d.yaml")).exit_code == 0
    Path(odd("t.csv")).write_text("a\n")
    cache = str(row("cache", "predict", odd("m.tsv"))["folder"])
    for command in (*WORKING, *FAILING):
        if command.startswith(("plot", "report")) and not CAN_DRAW:
            continue
        done = run(*map(odd, command.replace("CACHE", cache).split()), "--json")
        assert done.exit_code == (0 if command in WORKING else 3), (command, done.output)
        for line in done.stdout.splitlines():
            found = strict(line)
            texts = {name for name, value in found.items() if "\ufffd" in str(value)}
            known = {name.removesuffix("_base64") for name in found if name.endswith("_base64")}
            assert texts - {"error", "findings", "parts", "members"} <= known, command
            for name in known:
                assert b"\xff\xc3" in b64decode(str(found[f"{name}_base64"])), command
    found = strict(line_of({"a": ["x", ODD, 1], "b": [{ODD: ODD}], "c": "\ud800", "d": "é"}))
    assert found["a_base64"] == [None, "/8M=", None] and found["d"] == "é"
    assert found["b"] == [{"\ufffd\ufffd": "\ufffd\ufffd", "\ufffd\ufffd_base64": "/8M="}]
    assert b64decode(str(found["c_base64"])) == b"\xed\xa0\x80"


def test_an_error_has_the_keys_of_a_success() -> None:
    exset.save(Manifest.of(["STRING", "ASCII_INT"], [["a", 1], ["b", 2]]), "m.tsv")
    with h5py.File("a.h5", "w") as file:
        file["x/field"] = 1.0
    assert run("schema", "build", "a.h5", "-o", "d.yaml").exit_code == 0
    Path("t.csv").write_text("a\n")
    cache = str(row("cache", "predict", "m.tsv")["folder"])
    for working, failing in zip(WORKING, FAILING, strict=True):
        if (
            working.startswith(("plot", "report")) and not CAN_DRAW
        ):  # the extra plot, with matplotlib
            continue
        good = row(*working.replace("CACHE", cache).split())
        failed = run(*failing.split(), "--json")
        bad = json.loads(failed.stdout)
        assert (failed.exit_code, good["ok"], bad["ok"]) == (3, True, False), failing
        assert good["error"] is None and bad["error"]["code"] == "system"
        assert bad.keys() == good.keys() > SHAPE, failing
        assert {"counts", "findings"} <= good.keys(), working
        assert "Traceback" not in failed.stderr and failed.stderr
