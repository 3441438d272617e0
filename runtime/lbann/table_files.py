"""Write a table as HDF5 for LBANN: a group for each sample, a sample list and both schemas."""

import os
from collections.abc import Mapping

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.text import safe
from exset.grammars.lbann.list_files import File
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.schema import METADATA, Directive, Node, Schema
from exset.grammars.lbann.table_findings import finding_at
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.parsers.lbann.list_text import render as render_list
from exset.parsers.lbann.schema_text import render as render_schema
from exset.runtime.hdf5.file import DataType
from exset.runtime.hdf5.groups_write import RUN, rows_of, why_not, write_groups
from exset.runtime.hdf5.names import paths_of
from exset.runtime.hdf5.stored_types import stored_dtype
from exset.runtime.lbann.hdf5_prototype import Prototype
from exset.runtime.lbann.schema_build import FLOATS, data_schema, experiment, with_metadata

_PACKS = (("samples", "inputs"), ("responses", "targets"))
"""The packed groups of LBANN, and the columns of other families that go into them."""


def write(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the HDF5 file of a table.

    Raises FormatError for columns that the file cannot store.
    """
    losses = Losses(lossy, Findings() if findings is None else findings)
    kept = _held(table, losses)
    return write_groups(kept, rows_of(kept))


def companions(
    table: Table, /, *, name: str, findings: Findings, lossy: bool = False
) -> dict[str, bytes]:
    """Return {path: contents} of the other files that LBANN needs: a sample list and both schemas.

    name: the path of the HDF5 file. The paths of the other files begin with this path, without its
    suffix. A column that LBANN cannot read gets a finding, and is not in the schemas. If LBANN can
    read no column, there are no schemas.
    """
    stem = name.removesuffix(".h5").removesuffix(".lbann")
    kept = _held(table, Losses(lossy, Findings()))
    paths = [*rows_of(kept).paths]
    folder, file = os.path.split(name)
    samples = SampleList.of(Kind.CONDUIT_HDF5_INCLUSION, folder or ".", [File(file, paths)])
    others = {f"{stem}.sample_list": render_list(samples, findings=findings)}
    if fields := _fields(kept, findings):
        first = paths[0] if paths else RUN
        data = data_schema(
            Prototype(first, fields, frozenset()), (len(paths), bool(paths)), findings
        )
        chosen = _experiment(data, fields)
        others[f"{stem}.data.yaml"] = render_schema(data, findings=findings)
        others[f"{stem}.experiment.yaml"] = render_schema(chosen, findings=findings)
    return others


def _held(table: Table, losses: Losses) -> Table:
    """Return the table without the columns that the file cannot store. Report these columns as
    losses.
    """
    dropped = []
    for name, column in table.columns.items():
        if problem := why_not(column):
            what = (
                f"HDF5 with a group for each sample cannot store the column, because it {problem}"
            )
            losses.report(name, what)
            dropped.append(name)
    return table.without_columns(*dropped) if dropped else table


def _fields(table: Table, findings: Findings) -> dict[str, DataType]:
    """Return {path: type} for the fields that LBANN can read."""
    paths = paths_of(table.columns)
    fields = {}
    for name, column in table.columns.items():
        if problem := _unreadable(column, paths[name]):
            place = Place("table", field=f"columns[{name!r}]")
            words = {"column": safe(name), "problem": problem}
            findings.add(finding_at("lbann-not-in-schema", place, **words))
            continue
        values = column.items if isinstance(column, Lists) else column
        assert isinstance(values, Numbers)
        size = column.lengths[:1].tolist() if isinstance(column, Lists) else []
        shape = (*size, *values.shape)
        fields[paths[name]] = DataType("number", stored_dtype(values.values.dtype).name, shape)
    return fields


def _unreadable(column: TableColumn, path: str) -> str:
    """Return why LBANN cannot read a column as the field at `path`. Return "" if it can."""
    if METADATA in path.split("/"):
        return f"schemas reserve the name {METADATA}"
    values = column.items if isinstance(column, Lists) else column
    if not isinstance(values, Numbers):
        return "it is not a number"
    if not column.present.all():
        return "some rows have no value"
    if isinstance(column, Lists) and np.unique(column.lengths).size > 1:
        return "its size varies"
    return ""


def _experiment(data: Schema, fields: Mapping[str, DataType]) -> Schema:
    """Return the experiment schema for a data schema. It packs inputs and targets.

    Without fields of inputs and targets, it reads all fields as floats.
    """
    groups = [(group, name) for group, name in _PACKS if name in data.root.children]
    if groups:
        return experiment(data, groups)
    root = Node()
    for path, stored in fields.items():
        floats = {} if stored.dtype in FLOATS else {"coerce": Directive("float")}
        root = with_metadata(root, tuple(path.split("/")), floats)
    return Schema(root)
