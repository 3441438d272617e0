"""Options of tables show a file as the table that `convert` makes of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exset
from exset import Findings, samples
from tests.cli.command_line import run
from tests.lbann import hdf5_lists


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("xor-events.ex", "groups.ex"):
        Path(name).write_bytes(samples.read(name).data)
    Path("a.txt").write_bytes(b"A")
    Path("m.tsv").write_bytes(b"@FILE\tASCII_INT\na.txt\t1\na.txt\t2\n")
    exset.convert("m.tsv", "b.cpio", findings=Findings())
    hdf5_lists.write("d.h5", ["r/0", "r/1"], x=np.arange(3), n=1)
    Path("l.sample_list").write_text("CONDUIT_HDF5_INCLUSION\n2 0 1\n.\nd.h5 2 0 r/0 r/1\n")


@pytest.mark.parametrize(
    ("file", "switches", "options"),
    [
        ("xor-events.ex", ["--rows", "example"], {"rows": "example"}),
        ("xor-events.ex", ["--level", "said"], {"level": "said"}),
        ("groups.ex", ["--level", "meant"], {}),
        ("groups.ex", ["--targets", "30"], {"targets": 30}),
        ("m.tsv", ["--names", "path,n"], {"names": ["path", "n"]}),
        ("m.tsv", ["--contents", "--names", "path,n"], {"contents": True, "names": ["path", "n"]}),
        ("b.cpio", ["--types", "STRING,ASCII_INT"], {"types": "STRING,ASCII_INT"}),
        ("l.sample_list", ["--fields", "x"], {"fields": ["x"]}),
        ("l.sample_list", ["--level", "meant"], {}),
    ],
)
def test_a_table_of_each_family(file: str, switches: list[str], options: dict[str, Any]) -> None:
    table = exset.to_table(file, findings=Findings(), **options)
    for command in ("info", "stats"):
        [row] = map(json.loads, run(command, "--json", *switches, file).stdout.splitlines())
        assert row["summary"]["columns"] == table.types and row["summary"]["rows"] == len(table)
    is_flat = not any("<" in kind for kind in table.types.values())
    text = "csv" if is_flat and "bytes" not in table.types.values() else "jsonl"
    if text == "csv":
        exset.save(table, "x.csv", findings=Findings())
        assert run("cat", *switches, file).stdout == Path("x.csv").read_text()
        first = run("head", "-n1", *switches, file).stdout
        assert first == exset.dumps(table[:1], format="csv", findings=Findings()).decode()
    elif "bytes" not in table.types.values():
        lines = run("cat", "--lossy", *switches, file).stdout.splitlines()
        assert len(lines) == len(table)
        assert len(run("head", "-n1", "--lossy", *switches, file).stdout.splitlines()) == 1
    assert run("diff", *switches, file, file).exit_code == 0


def test_families_are_compared_as_tables() -> None:
    exset.convert("l.sample_list", "x.npz", level="meant")
    assert run("diff", "--level", "meant", "l.sample_list", "x.npz").exit_code == 0
    hdf5_lists.write("d.h5", ["r/0", "r/1"], x=np.arange(3), n=2)
    found = run("diff", "--level", "meant", "l.sample_list", "x.npz")
    assert found.exit_code == 1 and "rows[0].n: 2 / 1" in found.stdout


def test_options_that_do_not_fit() -> None:
    found = run("info", "--rows", "event", "m.tsv")
    assert found.exit_code == 2
    assert "unknown option 'rows' of tables of manifest: its options are names" in found.stderr
    assert run("info", "--fields", "y", "l.sample_list").exit_code == 2
    assert run("head", "--contents", "--untrusted", "m.tsv").exit_code != 2
    Path("sub").mkdir()
    refused = run("info", "--level", "meant", "--root", "sub", "l.sample_list")
    assert "hdf5-roots" in refused.stderr
