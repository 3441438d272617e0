"""Batches of the loader with `compat`, against those that the real aeon delivered."""

import csv
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from exset import Findings
from exset.core.errors import FormatError
from exset.runtime.aeon.provision.loader import DataLoader

pytest.importorskip("cv2")

CORES = {"rnd_cpus2": "0,1"}
"""The cores that the environment gave to aeon, as the member `cpu_list`."""

TIMED = {"rnd_reset2"}
"""Cases whose draws depend on how long aeon idles before a reset: no rule gives them (D4)."""
UNDEFINED = {"bad_trunc_jpg"}
"""Cases whose values are undefined, and for which exset raises an error (I2)."""

ROUNDED = {"bbtargets": 2.4e-7}
"""The tolerance of arrays that are computed with logarithms."""
CUBIC = 1
"""The difference of pictures that OpenCV has enlarged with CUBIC since version 4.7."""


@cache
def folder() -> Path | None:
    name = os.environ.get("EXSET_CORPUS")
    return None if name is None else Path(name) / "aeon" / "provision"


@cache
def rows() -> dict[tuple[str, str], dict[str, str]]:
    root = folder()
    if root is None:
        return {}
    with open(root / "results.tsv", encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["case"], row["version"]): row for row in table}


def given(case: str, version: str) -> dict[str, Any]:
    root = folder()
    assert root is not None
    config: dict[str, Any] = json.loads((root / "cases" / f"{case}.{version}.json").read_bytes())
    return config | ({"cpu_list": CORES[case]} if case in CORES and version == "head" else {})


def chosen() -> list[tuple[str, str]]:
    return [key for key in rows() if key[0] not in TIMED]


def delivered(config: dict[str, Any], version: Any, most: int) -> list[dict[str, NDArray[Any]]]:
    """The batches of a new loader, up to a number."""
    with DataLoader(
        config, version=version, compat="aeon", base=str(folder()), prefetch=0, findings=Findings()
    ) as loader:
        loader = iter(loader)
        return [dict(next(loader)) for _ in range(most)]


@pytest.mark.skipif(folder() is None, reason="EXSET_CORPUS does not name the folder of real files")
@pytest.mark.parametrize(("case", "version"), chosen() or [("", "")])
def test_batches_are_those_of_aeon(
    case: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder()
    assert root is not None
    monkeypatch.chdir(root)
    row = rows()[case, version]
    config = given(case, version)
    if row["verdict"] != "ok" or case in UNDEFINED:
        records = int(row["batches_before"] or 0) * config["batch_size"]
        with pytest.raises((FormatError, OSError)):
            delivered(config, version, records + 100)
        return
    with np.load(root / "out" / f"{case}.{version}.npz") as file:
        wanted = dict(file)
    names = [name for name in wanted if not name.endswith("__undefined")]
    batches = delivered(config, version, len(wanted[names[0]]))
    assert [*batches[0]] == names
    for name in names:
        compare(name, np.stack([batch[name] for batch in batches]), wanted, config, row)


def compare(
    name: str,
    found: NDArray[Any],
    wanted: dict[str, NDArray[Any]],
    config: dict[str, Any],
    row: dict[str, str],
) -> None:
    expected = wanted[name]
    assert found.dtype == expected.dtype and found.shape == expected.shape
    known = np.ones(expected.shape, np.bool_)
    if f"{name}__undefined" in wanted:
        bits = np.unpackbits(wanted[f"{name}__undefined"])[: expected.size]
        known = ~bits.astype(np.bool_).reshape(expected.shape)
    # What aeon does not write is by chance the same in two runs.
    if name.endswith("boundingbox"):  # four binary32 for each box (B5)
        known.reshape(*expected.shape[:2], -1)[..., 4 * expected.shape[-2] :] = False
    if name.endswith("label_map"):  # max_classes labels of four (T3)
        known[..., config["etl"][0].get("max_classes", 4) :] = False
    found, expected = found[known], expected[known]
    if name in ROUNDED:
        assert np.abs(found - expected).max() <= ROUNDED[name]
    elif re.search(rf"(^| {name} )max 1 n ", row["model_cv5.0"]):
        assert np.abs(found.astype(np.int64) - expected).max() <= CUBIC
    else:
        assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
