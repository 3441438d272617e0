"""`exset config`, and the common commands on loader configurations."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.aeon import json_schema
from tests.cli import command_line

Run = Callable[..., Result]

NEW = """\
{
 "manifest_filename": "a.tsv",
 "batch_size": 2,
 "etl": [{"type": "image", "height": 4, "width": 6, "output_type": "float"}],
 "augmentation": [{"type": "image", "scale": [0.8, 1], "batch_samplers": [], "flp": 1}]
}
"""
OLD = """\
{
 "manifest_filename": "a.tsv",
 "minibatch_size": 64,
 "type": "image,label",
 "image": {"height": 4, "width": 6, "center": false},
 "label": {"binary": true}
}
"""
SEED = '{"manifest_filename": "a.tsv", "batch_size": 2, "etl": [], "single_thread": true}'
BAD = '{"manifest_filename": "a.tsv", "batch_size": "2", "elt": []}'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in a folder with configurations."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"new": NEW, "old": OLD, "seed": SEED, "bad": BAD}.items():
        Path(f"{name}.json").write_text(text)
    return command_line.run


def test_show(run: Run) -> None:
    result = run("config", "show", "new.json")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["etl[0]", "image"] in lines and ["augmentation[0]", "image"] in lines
    assert ["height", "4", "size", "of", "the", "output", "in", "pixels"] in lines
    assert any(line[:2] == ["block_size", "[5000]"] for line in lines)
    assert any(line[:3] == ["scale", "[0.8,", "1.0]"] for line in lines)
    assert lines[-1] == ["image", "float", "records=N", "channels=3", "height=4", "width=6"]
    assert "[aeon-ignored]" in result.stderr


@pytest.mark.parametrize("verb", ["config show", "info"])
def test_columns_are_aligned(run: Run, verb: str) -> None:
    """The longest name decides the width: the second column of each table has one place."""
    text = run(*verb.split(), "new.json").stdout.partition("outputs of a batch")[0]
    rows = [line for line in text.splitlines()[1:] if len(line.split()) > 2]
    values = [re.match(r" +[\w.]+ +", line) for line in rows if "[0] " not in line]
    assert len(values) > 4 and len({match.end() for match in values if match}) == 1


def test_show_as_json(run: Run) -> None:
    row = json.loads(run("config", "show", "--json", "old.json").stdout)
    keys = ["schema", "ok", "error", "file", "dialect", "given", "members", "outputs"]
    assert list(row) == [*keys, "counts", "findings"]
    assert row["given"]["batch_size"] == 64 and row["members"]["block_size"] == 5000
    assert row["members"]["etl"][1] == {
        "type": "label",
        "name": "",
        "binary": True,
        "output_type": "uint32_t",
    }
    assert [output["name"] for output in row["outputs"]] == ["image", "label"]


def test_show_for_a_version(run: Run) -> None:
    assert run("config", "show", "seed.json").exit_code == 0
    result = run("config", "show", "--from-dialect", "head", "seed.json")
    assert result.exit_code == 1 and "[aeon-unknown]" in result.stderr
    assert run("config", "show", "--from-dialect", "csv", "seed.json").exit_code == 2
    result = run("config", "show", "bad.json")
    assert result.exit_code == 1 and "and 2 more errors" in result.stderr


def test_schema(run: Run) -> None:
    assert run("config", "schema").stdout == json_schema.text()


def test_validate(run: Run) -> None:
    result = run("validate", "bad.json")
    assert result.exit_code == 1
    for place in ("bad.json:1:46:", "bad.json:1:51:", "bad.json:1:1:"):
        assert place in result.stdout
    assert "rename 'elt'?" in result.stdout and "did you mean 'etl'?" in result.stdout
    assert "not valid, 3 errors" in result.stdout
    result = run("validate", "old.json", "seed.json")
    assert result.exit_code == 0 and "old.json: ok, 3 warnings" in result.stdout
    assert "seed.json: ok, 1 note" in result.stdout
    assert run("validate", "--strict", "old.json").exit_code == 1


def test_convert(run: Run) -> None:
    result = run("convert", "old.json", "--to", "loader_config", "-o", "made.json")
    assert result.exit_code == 0 and "[aeon-refuses]" in result.stderr
    assert json.loads(Path("made.json").read_bytes()) == {
        "manifest_filename": "a.tsv",
        "batch_size": 64,
        "etl": [
            {"type": "image", "height": 4, "width": 6},
            {"type": "label", "binary": True},
        ],
        "augmentation": [{"type": "image", "center": False}],
    }
    assert run("validate", "made.json").stdout == "made.json: ok\n"


def test_convert_to_another_version(run: Run) -> None:
    refused = run("convert", "--dialect", "head", "seed.json", "made.json")
    assert refused.exit_code == 1 and "[aeon-lost]" in refused.stderr
    assert not Path("made.json").exists()
    result = run("convert", "--dialect", "head", "--lossy", "seed.json", "made.json")
    assert result.exit_code == 0 and "[aeon-left-out]" in result.stderr
    assert "single_thread" not in Path("made.json").read_text()
    assert run("convert", "--dialect", "csv", "seed.json", "other.json").exit_code == 2
    assert run("convert", "--dialect", "head", "exset::xor.ex", "made.ex").exit_code == 2


def test_info_and_cat(run: Run) -> None:
    text = run("info", "new.json").stdout
    assert "image: float, N x 3 x 4 x 6" in text and "batches of 2, blocks of 5,000" in text
    row = json.loads(run("info", "--json", "new.json").stdout)
    assert row["format"] == "loader_config" and row["summary"]["etl"] == ["image"]
    assert json.loads(run("cat", "--compact", "new.json").stdout)["batch_size"] == 2
