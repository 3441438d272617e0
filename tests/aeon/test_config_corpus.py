"""aeon's verdicts on loader configurations, and configurations from real projects."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from exset import Findings, FormatError, LoaderConfig
from exset.core.errors import Severity
from exset.core.source import Source
from exset.parsers.aeon.config import parse, render


def read(path: Path, dialect: str | None = None) -> tuple[LoaderConfig, Findings]:
    findings = Findings()
    source = Source(path.name, path.read_bytes())
    return parse(source, dialect=dialect, findings=findings), findings


@pytest.mark.parametrize("dialect", ["head", "seed"])
def test_verdicts(corpus: Path, dialect: str) -> None:
    folder = corpus / "aeon" / "edge_config"
    rows = [line.split("\t") for line in (folder / "verdicts.tsv").read_text().splitlines()]
    header, *rows = rows
    assert len(rows) == 55
    for row in rows:
        case = dict(zip(header, row, strict=True))
        verdict = json.loads(case[dialect])
        try:
            config, _ = read(folder / f"{case['case']}.json", dialect)
        except FormatError as error:
            assert not verdict["ok"], (case["case"], str(error))
            assert error.place is not None and error.place.line is not None
            if "did you mean" in verdict["error"]:
                assert error.hint is not None
                assert verdict["error"].split("did you mean ")[1] in error.hint
        else:
            assert verdict == {
                "ok": True,
                "batch_size": config.batch_size,
                "block_size": config.block_size,
                "subset_fraction": config["subset_fraction"],
                "iteration_mode": config["iteration_mode"],
                "outputs": [output.to_dict() for output in config.outputs],
            }, case["case"]


def test_configurations_that_every_aeon_refuses(corpus: Path) -> None:
    folder = corpus / "aeon" / "edge_config"
    for line in (folder / "verdicts.tsv").read_text().splitlines()[1:]:
        case, _, head, seed = line.split("\t")
        accepted = json.loads(head)["ok"] or json.loads(seed)["ok"]
        try:
            _, findings = read(folder / f"{case}.json")
        except FormatError:
            assert not accepted, case
        else:
            assert accepted or findings.count("aeon-refuses"), case


def test_real_configurations(corpus: Path) -> None:
    """All are read. Those of aeon's first versions give findings about outdated members."""
    folder = corpus / "aeon" / "files"
    paths = sorted(folder.glob("**/configs/**/*.json")) + sorted(folder.glob("*habana/*.json"))
    found: dict[str, int] = {}
    for path in paths:
        config, findings = read(path)
        given = json.loads(path.read_bytes())
        outdated = "minibatch_size" in given or ("type" in given and "etl" in given)
        assert bool(findings.count("aeon-refuses")) == outdated, path
        assert findings.worst is not Severity.ERROR
        found[config.dialect] = found.get(config.dialect, 0) + 1
        types = [element.type for element in config.etl]
        expected = given.get("etl") or [{"type": name} for name in given["type"].split(",")]
        assert types == [element["type"] for element in expected]
        assert config.batch_size == given.get("batch_size", given.get("minibatch_size"))
        for old in (given[name] for name in types if outdated and name in given):
            kept = {**config.etl[0].given}
            kept |= {name: 0 for each in config.augmentation for name in each.given}
            kept |= {"binary": 0, "frame": 0}
            assert set(old) <= set(kept), path
        again = render(config)
        source = Source(path.name, again)
        clean = Findings()
        assert parse(source, dialect=config.dialect, findings=clean) == config
        assert not clean.count("aeon-refuses")
    assert len(paths) == 70
    assert found == {"head": 58, "seed": 9, "between": 1, "habana": 2}


def test_findings_of_configurations_that_ran(corpus: Path) -> None:
    paths = sorted((corpus / "aeon" / "loader").glob("*.json"))
    assert len(paths) == 23
    found = {path.stem: [each.code for each in read(path, "head")[1]] for path in paths}
    assert {name: codes for name, codes in found.items() if codes} == {
        "label_float_out": ["aeon-later"],
        "label_int8_out": ["aeon-later"],
        "label_map_default": ["aeon-later"],
    }


def test_outputs_are_as_large_as_in_real_runs(corpus: Path) -> None:
    """The log has the batches of each run, or its error."""
    folder = corpus / "aeon" / "loader"
    runs = (folder / "results.log").read_text(errors="replace").split("--- ")[1:]
    seen: dict[str, int] = {}
    for run in runs:
        name, dialect = run.split("\n", 1)[0].split()
        result = next((line for line in run.splitlines() if line.startswith('{"ok":true')), None)
        try:
            config, _ = read(folder / f"{name}.json", dialect)
        except FormatError:
            assert "'batch_major' not found" in run and dialect == "seed", name
            continue
        if result is None:  # an element of the records is invalid, not the configuration
            continue
        seen[dialect] = seen.get(dialect, 0) + 1
        for batch in json.loads(result)["batches"]:
            sizes = {name: output["size"] for name, output in batch.items()}
            assert sizes == {
                output.name: config.batch_size * math.prod(output.shape) * size_of(output.dtype)
                for output in config.outputs
            }, (name, dialect)
    assert seen == {"head": 16, "seed": 15}


def size_of(dtype: str) -> int:
    """Return the size of a C++ type in bytes."""
    others = {"float": "float32", "double": "float64", "char": "int8"}
    return np.dtype(others.get(dtype, dtype.removesuffix("_t"))).itemsize


def test_other_json_of_aeon_is_refused(corpus: Path) -> None:
    """The address of its network server, and annotations of boxes."""
    folder = corpus / "aeon" / "files" / "NervanaSystems+aeon"
    for path in (folder / "nds_manifest.json", *(folder / "annotations").glob("*.json")):
        with pytest.raises(FormatError) as caught:
            read(path)
        assert caught.value.code == "aeon-unknown"
