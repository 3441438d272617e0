"""Kinds of data, and their conversion to any format and back, for `docs/matrix.md`."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st

import exset
from exset import ExampleSet, Findings, Manifest, SampleList, Table, api, formats
from exset.core.limits import DEFAULT
from exset.core.protocols import Model
from exset.families.format import Format
from exset.grammars.aeon.block import Block
from exset.grammars.tables.columns import Numbers, Text
from exset.grammars.tables.labels import labelled
from exset.steps import Steps
from exset.testing import aeon, lbann, lens, lists, tables


@dataclass(frozen=True)
class Source:
    """A kind of data: its title, its format, a strategy, and a sample with all that may be lost."""

    title: str
    format: str
    models: Callable[[], st.SearchStrategy[Any]]
    sample: Callable[[], Model]


def example_set() -> ExampleSet:
    text = b"""defI: 0.5;
    name: a proc: {p} freq: 2 2 [0 max: 3] [0] i: (g) 2-3 T: (t) 1 - 0 [1] I: (g) 0.5 1;
    name: b I: (g) 1 T: (t) 0 1 0;"""
    return exset.loads(text, model=ExampleSet, findings=Findings())


def manifest() -> Manifest:
    with open("a.jpg", "wb") as file:
        file.write(b"\xff\xd8\xff")
    kinds = ["FILE", "STRING", "BINARY", "ASCII_INT", "ASCII_FLOAT"]
    rows: list[tuple[str | bytes, ...]]
    rows = [("a.jpg", "\xe9", "AAEC", "007", "0.50"), ("a.jpg", b"\xff", "", "-1", "1e3")]
    return Manifest.of(kinds, rows)


def flat_table() -> Table:
    columns = {
        "x": np.array([[0.5, np.nan], [1, -0.0]], np.float32),
        "n": [None, 3],
        "flag": [True, False],
        "text": ["a", None],
        "raw": [b"\xff", b""],
        "lists": [[1.5, 2.0], []],
        "day": np.array(["2020-01-01", "NaT"], "M8[D]"),
    }
    return Table.of(columns, {"origin": "x"})


def nested_table() -> Table:
    records = [[{"group": "a", "units": [1, 2]}, {"group": None, "units": []}], []]
    return Table.of({"n": [1, 2], "records": records})


def files() -> Table:
    labels = Numbers.of(np.array([0, 1]))
    for name in ("a.jpg", "b.jpg"):
        with open(name, "wb") as file:
            file.write(b"\xff\xd8\xff")
    return labelled(Text.of(["a.jpg", "b.jpg"]), labels, ["cat", "dog"])


def folder() -> Table:
    for name in ("cat/1.jpg", "dog/2.jpg"):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(b"\xff\xd8\xff")
    return exset.Table.of(
        {
            "file": [b"\xff\xd8\xff", b"\xff\xd8\xff\0"],
            "file.path": ["cat/1.jpg", "dog/2.jpg"],
            "label": [0, 1],
            "class": ["cat", "dog"],
        },
        {"files": ["file.path"], "classes": {"label": ["cat", "dog"]}},
    )


def sample_list() -> SampleList:
    found = [("a.h5", ["r/0", "r/1"], 2), ("b.h5", ["r/0"])]
    return SampleList.of("CONDUIT_HDF5_INCLUSION", "data", found)


def _flat_tables() -> st.SearchStrategy[Table]:
    return tables.tables(nested=False)


def _valid_manifests() -> st.SearchStrategy[Manifest]:
    """Draw manifests whose elements aeon can read."""

    def is_valid(model: Manifest) -> bool:
        findings = Findings()
        exset.to_table(model, findings=findings)
        return not findings

    return aeon.manifests().filter(is_valid)


def _lists_of_files() -> st.SearchStrategy[Table]:
    """Draw lists of files whose names are text."""
    drawn = lists.labelled_files()
    return drawn.filter(lambda table: isinstance(table.columns["path"], Text))


def _inclusion_lists() -> st.SearchStrategy[SampleList]:
    """Draw lists that name their samples, one line for each file."""
    return lbann.sample_lists().map(_inclusion)


def _inclusion(drawn: SampleList) -> SampleList:
    ids = dict.fromkeys(f"r/{name}" for name in range(len(drawn) % 7))
    found = [(f"{number}.h5", [*ids], number) for number in range(min(len(drawn.files), 3))]
    return SampleList.of("CONDUIT_HDF5_INCLUSION", "data", found if ids else [])


SOURCES: Final = {
    "lens": Source("Lens example set", "ex", lens.example_sets, example_set),
    "list": Source("LBANN sample list", "sample_list", _inclusion_lists, sample_list),
    "manifest": Source("aeon manifest", "manifest", _valid_manifests, manifest),
    "block": Source(
        "aeon cache block", "block", aeon.blocks, lambda: Block.of([[b"\xff", b"1"], [b"b", b"2"]])
    ),
    "flat": Source("table", "npz", _flat_tables, flat_table),
    "nested": Source("table with records", "npz", tables.tables, nested_table),
    "files": Source("list of files", "file_list", _lists_of_files, files),
    "folder": Source("files with contents", "npz", lists.folders, folder),
}


def written(
    source: Source, model: Model, target: Format, *, lossy: bool, findings: Findings
) -> str:
    """Convert a model and write it into the current folder; return the path."""
    fmt = formats.get(source.format)
    api.check_convertible(fmt.family, target, "", "x")
    options: dict[str, object] = {"lossy": lossy and target.option("lossy") is not None}
    if isinstance(model, SampleList) and not target.can_write(fmt.family):
        options["fields"] = ()  # the HDF5 files do not exist
    steps = Steps.of(fmt, target, options, {})
    made = steps.converted(model, target, "x", level=None, findings=findings, limits=DEFAULT)
    path = f"{len(os.listdir())}{target.suffix}"
    is_lossy = bool(steps.write.get("lossy"))
    exset.save(made, path, format=target.name, findings=findings, lossy=is_lossy)
    return path


def read_back(source: Source, path: str, target: Format) -> Model:
    """Return the model of a source in a file that was written."""
    findings, fmt = Findings(), formats.get(source.format)
    has_contents = target.option("contents", reading=True) is not None
    model = exset.load(path, format=target.name, findings=findings, contents=has_contents)
    model = Steps.of(target, fmt, {}, {}).converted(
        model, fmt, path, level=None, findings=findings, limits=DEFAULT
    )
    if isinstance(model, fmt.family.model):
        return model
    data = exset.dumps(model, format=fmt.name, findings=findings)
    return exset.loads(data, format=fmt.name, findings=findings)
