"""What verbs that write say with --json."""

import json
from pathlib import Path

import h5py
import pytest
from click.testing import CliRunner, Result

import exset
from exset import Manifest
from exset.cli import cli


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def row(*arguments: str) -> dict[str, object]:
    """The one object that a verb writes, and nothing else."""
    done = run(*arguments, "--json")
    assert done.exit_code == 0 and done.stderr == "", done.output
    found: dict[str, object] = json.loads(done.stdout)
    assert found["schema"] == 1
    return found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, as the current one."""
    inside = tmp_path / "in"
    inside.mkdir()
    monkeypatch.chdir(inside)


def test_lists_and_schemas() -> None:
    with h5py.File("a.h5", "w", track_order=True) as file:
        for name in "xyz":
            file[f"{name}/field"] = 1.0
    for arguments in (
        ("list", "build", "a.h5"),
        ("list", "shuffle", "--seed", "1", "l.sample_list"),
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


def test_demo() -> None:
    done = run("demo", "--json", "new")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 0 and all(row["schema"] == 1 for row in rows)
    assert {"name": "xor.ex", "converted": "xor.bex", "units": 4}.items() <= rows[-1].items()
