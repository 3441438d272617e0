"""`exset schema`, and the common verbs on schemas, as a user meets them."""

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from click.testing import Result

import exset
from exset.grammars.lbann.schema import Schema
from tests.cli import command_line

Run = Callable[..., Result]

DATA = """\
# The fields of the files.
inputs:
  x:
    metadata:
      scale: 0.5
      ordering: 10
  y:
outputs:
  metadata:
    dims: [2, 2]
    channels: 1
    ordering: 20
  image:
"""
EXPERIMENT = """\
inputs:
  metadata:
    pack: samples
    scale: 2.0
  x:
outputs:
  metadata:
    pack: samples
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in a folder with schemas, and a file that they fit."""
    monkeypatch.chdir(tmp_path)
    Path("data.yaml").write_text(DATA)
    Path("exp.yaml").write_text(EXPERIMENT)
    with h5py.File("a.h5", "w") as file:
        for i in range(3):
            group = file.create_group(f"run/{i}")
            group["inputs/x"] = np.float64(i)
            group["inputs/y"] = np.arange(3)
            group["outputs/image"] = np.eye(2)

    def call(*arguments: str, code: int = 0) -> Result:
        result = command_line.run(*arguments)
        assert result.exit_code == code, result.output
        return result

    return call


def test_show(run: Run) -> None:
    lines = run("schema", "show", "data.yaml", "exp.yaml").stdout.splitlines()
    assert lines == [
        "inputs",
        "  x: read, size unknown",
        "      scale: 2.0  (exp.yaml:4:12, set for inputs, replaces 0.5)",
        "      ordering: 10  (data.yaml:6:17)",
        "      pack: samples  (exp.yaml:3:11, set for inputs)",
        "  y: not read",
        "outputs",
        "  image: read, 4 values",
        "      dims: [2, 2]  (data.yaml:10:11, set for outputs)",
        "      channels: 1  (data.yaml:11:15, set for outputs)",
        "      ordering: 20  (data.yaml:12:15, set for outputs)",
        "      pack: samples  (exp.yaml:8:11, set for outputs)",
        "",
        "packed groups",
        "  samples: size unknown",
        "    inputs/x: ordering 10, size unknown",
        "    outputs/image: ordering 20, 4 values",
    ]
    known = run("schema", "show", "data.yaml", "exp.yaml", "--sample", "a.h5", "run/0").stdout
    assert "  samples: 5 values" in known and "x: read, 1 value\n" in known


def test_show_as_json(run: Run) -> None:
    shown = json.loads(run("schema", "show", "data.yaml", "exp.yaml", "--json").stdout)
    first, second = shown["fields"]
    assert (first["name"], second["values"]) == ("inputs/x", 4)
    scale = first["metadata"]["scale"]
    assert (scale["value"], scale["schema"], scale["node"]) == (2.0, "experiment", "inputs")
    assert scale["replaced"]["value"] == 0.5 and scale["replaced"]["place"]["line"] == 5
    packed = {"name": "samples", "members": ["inputs/x", "outputs/image"], "values": None}
    assert shown["packed"] == [packed]


def test_check(run: Run) -> None:
    pair = ("schema", "check", "data.yaml", "exp.yaml")
    assert run(*pair, "--sample", "a.h5", "run/1").stdout.endswith("1 sample: ok\n")
    bad = run(*pair, "--sample", "a.h5", "run/7", code=1)
    assert "[hdf5-no-sample]" in bad.stdout and "1 sample: not valid" in bad.stdout
    run(*pair, code=2)
    row = json.loads(run(*pair, "--json", "--sample", "b.h5", "run/1", code=1).stdout)
    assert not row["ok"]
    assert [finding["code"] for finding in row["findings"]] == ["lbann-replaced", "hdf5-file"]
    Path("bad.yaml").write_text("inputs:\n  z:\n")
    found = run("schema", "check", "data.yaml", "bad.yaml", "--sample", "a.h5", "run/1", code=1)
    assert found.stdout.startswith("bad.yaml:2:3: ") and "[schema-unknown-field]" in found.stdout


def test_check_accepts_only_sample_lists(run: Run) -> None:
    assert "[format]" in run("schema", "check", "data.yaml", "exp.yaml", "exp.yaml", code=1).stderr


def test_build(run: Run) -> None:
    built = run("schema", "build", ".", "--normalise", "range", "--sample", "run/0")
    assert built.stdout.startswith("# The fields of 3 samples in 1 file; one sample is run/0.\n")
    assert "3 fields, as in the sample run/0; found in 3 samples in all" in built.stderr
    Path("new").mkdir()
    options = ("--pack", "samples=inputs", "--pack", "responses=outputs")
    run("schema", "build", "a.h5", "-o", "new/d.yaml", "--experiment", "new/e.yaml", *options)
    shown = run("schema", "check", "new/d.yaml", "new/e.yaml", "--sample", "a.h5", "run/2")
    assert "ok" in shown.stdout
    packed = run("schema", "show", "new/d.yaml", "new/e.yaml", "--compat", "lbann").stdout
    assert "responses: " in packed
    run("schema", "build", ".", "--pack", "a", code=2)
    assert "[hdf5-no-files]" in run("schema", "build", "new", code=1).stderr
    run("schema", "build", "missing.h5", code=3)
    run("schema", "build", "data.yaml", code=1)


def test_links_are_followed_only_when_asked(run: Run) -> None:
    with h5py.File("a.h5", "a") as file:
        file["soft"] = h5py.SoftLink("/run")
    pair = ("schema", "check", "data.yaml", "exp.yaml", "--sample", "a.h5", "soft/0")
    assert "[hdf5-link]" in run(*pair, code=1).stdout
    run(*pair, "--follow-links", "--no-locking", "--root", ".")
    assert "[hdf5-roots]" in run(*pair, "--root", "new", code=1).stdout


def test_the_common_verbs(run: Run) -> None:
    assert "fields      3" in run("info", "data.yaml").stdout
    row = json.loads(run("info", "--json", "exp.yaml").stdout)
    assert row["format"] == "schema" and row["summary"]["packed"] == ["samples"]
    assert run("validate", "data.yaml", "exp.yaml").stdout == "data.yaml: ok\nexp.yaml: ok\n"
    Path("bad.yaml").write_text("a: 5\nb:\n  metadata:\n    horse: 1\n")
    assert "bad.yaml: ok, 2 warnings" in run("validate", "bad.yaml").stdout
    run("validate", "--strict", "bad.yaml", code=1)
    run("convert", "data.yaml", "copy.yaml")
    assert Path("copy.yaml").read_text() == DATA == run("cat", "data.yaml").stdout
    assert exset.load("copy.yaml", model=Schema) == exset.load("data.yaml")
    assert (
        "a schema cannot be written to x.ex" in run("convert", "data.yaml", "x.ex", code=1).stderr
    )


def test_names_are_escaped(run: Run) -> None:
    Path("evil.yaml").write_text('"\\e[31mred": {metadata: {pack: "\\e[31m", ordering: 1}}\n')
    for verb in (("schema", "show", "evil.yaml", "evil.yaml"), ("info", "evil.yaml")):
        result = run(*verb)
        assert "\x1b" not in result.output and "\\x1b[31m" in result.output


def test_lists_are_checked_as_a_reader_of_lbann_reads_them(run: Run) -> None:
    Path("a.sample_list").write_text("SINGLE-SAMPLE\n1\n.\nnone\na.h5 2 1 run/0 run/2\n")
    check = ("schema", "check", "data.yaml", "exp.yaml", "a.sample_list")
    assert "[hdf5-no-sample]" in run(*check, code=1).output
    assert "2 samples" in run(*check, "--reader", "hdf5").stdout
