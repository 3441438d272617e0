"""The files that other tools read: the action, the hooks, the citation, the metadata."""

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import exset
from exset import formats

ROOT = Path(__file__).parent.parent


def document(name: str) -> Any:
    """Return what a file of YAML holds."""
    return YAML(typ="safe").load(ROOT / name)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("action.yml", "github-actions"),
        ("CITATION.cff", "citation-file-format"),
        (".github/ISSUE_TEMPLATE/bug.yml", "github-issue-forms"),
        (".github/ISSUE_TEMPLATE/format.yml", "github-issue-forms"),
        (".github/ISSUE_TEMPLATE/config.yml", "github-issue-config"),
    ],
)
def test_a_file_is_valid_by_its_own_schema(name: str, schema: str) -> None:
    pytest.importorskip("check_jsonschema", reason="it has the schemas")
    validator = pytest.importorskip("jsonschema").Draft7Validator
    path = files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{schema}.json"
    if not path.is_file():
        pytest.skip(f"this version of check_jsonschema has no schema {schema}")
    assert [
        each.message for each in validator(json.loads(path.read_text())).iter_errors(document(name))
    ] == []


def test_the_citation_is_of_this_version() -> None:
    assert document("CITATION.cff")["version"] == exset.__version__


def test_the_hooks_take_the_formats_that_a_suffix_means() -> None:
    names = {"exset validate": ("ex", "bex", "sample_list"), "exset fmt": ("ex", "sample_list")}
    hooks = {hook["entry"]: hook for hook in document(".pre-commit-hooks.yaml")}
    assert hooks.keys() == names.keys()
    for entry, hook in hooks.items():
        checked = re.compile(hook["files"])
        for name in names[entry]:
            assert all(checked.search(f"a{suffix}") for suffix in formats.get(name).suffixes)
        assert not checked.search("a.csv")
        assert bool(checked.search("a.bex")) == ("bex" in names[entry])


def validate(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the action; a script in the folder starts this checkout's exset."""
    command = folder / "bin" / "exset"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m exset "$@"\n')
    command.chmod(0o755)
    paths = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT), **inputs}
    script = ["bash", str(ROOT / ".github" / "validate.sh")]
    return subprocess.run(script, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(os.name == "nt", reason="the action runs bash")
def test_the_script_of_the_action(tmp_path: Path) -> None:
    (tmp_path / "a.ex").write_text("I: 1 five;\n")
    (tmp_path / "b.ex").write_text("I: 1 T: 1;\n")
    done = validate(tmp_path, EXSET_FILES="*.ex", EXSET_OPTIONS="--strict", EXSET_SARIF="r.sarif")
    assert done.returncode == 1 and done.stdout.startswith("::error file=a.ex,line=1,col=6,")
    [found] = json.loads((tmp_path / "r.sarif").read_text())["runs"]
    assert [each["ruleId"] for each in found["results"]] == ["syntax"]
    assert validate(tmp_path, EXSET_FILES="b.ex").returncode == 0
    empty = validate(tmp_path, EXSET_FILES=" \n")
    assert empty.returncode == 2 and empty.stdout.startswith("::error::")


@pytest.mark.skipif(os.name == "nt", reason="the action runs bash")
def test_the_action_runs_no_code_of_its_inputs(tmp_path: Path) -> None:
    (tmp_path / "b.ex").write_text("I: 1 T: 1;\n")
    for text in ("$(touch made)", "`touch made`", "; touch made", "b.ex\ntouch made"):
        validate(tmp_path, EXSET_FILES=text)
    assert not (tmp_path / "made").exists()


def test_keywords_and_versions() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"Lens", "LBANN", "aeon", "speaker verification"} <= set(project["keywords"])
    versions = [each.rpartition(" ")[2] for each in project["classifiers"] if ":: 3." in each]
    assert project["requires-python"] == f">={versions[0]}"
