"""Read the fields of all samples of a list as columns, by the schemas or as they are stored."""

import os
from collections.abc import Iterable
from itertools import groupby

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.core.text import safe
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.tables.columns import Numbers, TableColumn, Text
from exset.io.access import DEFAULT_ACCESS
from exset.runtime.hdf5.arrays import Claims
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.leaves import Leaves
from exset.runtime.hdf5.names import name_of
from exset.runtime.lbann.sample_layout import Sample
from exset.runtime.lbann.sample_reader import SampleReader, joined
from exset.runtime.lbann.table_options import Options
from exset.runtime.training.dataset import Values, checked_names


def fields_of(
    samples: SampleList, findings: Findings, limits: Limits, options: Options
) -> dict[str, TableColumn]:
    """Return the fields of the samples by name. Raises the errors of `to_table`."""
    fields = options.get("fields")
    chosen = None if fields is None else checked_names("fields", fields)
    if chosen == () or not len(samples):
        return {}
    if "data" in options or "experiment" in options:
        reader = SampleReader(
            samples,
            options.get("data"),
            options.get("experiment"),
            fields=chosen,
            base=options.get("base", ""),
            keep_packed=options.get("keep_packed", False),
            access=options.get("access", DEFAULT_ACCESS),
            limits=limits,
            findings=findings,
        )
        return _named((name, _column(each)) for name, each in reader.to_arrays().items())
    found = _read(samples, limits, options)
    if chosen is not None:
        checked_names("fields", chosen, [*found])
        found = {name: found[name] for name in chosen}
    return found


def _column(values: Values) -> TableColumn:
    if values.dtype.hasobject:
        return Text.of(values.reshape(-1).tolist())
    return Numbers.of(values)


def _named(found: Iterable[tuple[str, TableColumn]]) -> dict[str, TableColumn]:
    """Return columns by name; raise FormatError if two fields would become one column."""
    columns: dict[str, TableColumn] = {}
    for path, column in found:
        if (name := name_of(path)) in columns:
            message = f"two fields become the column {safe(name)!r}"
            raise FormatError(message, hint="rename one of them", code="table-names")
        columns[name] = column
    return columns


def _read(samples: SampleList, limits: Limits, options: Options) -> dict[str, TableColumn]:
    """Return all fields of the samples in the files; a field that a sample lacks is absent."""
    base, access = options.get("base", ""), options.get("access", DEFAULT_ACCESS)
    claims = Claims(limits)
    leaves = Leaves(claims, None)
    pairs = samples.pairs_at(np.arange(len(samples)))
    numbered = sorted(((path, str(each), row) for row, (path, each) in enumerate(pairs)), key=_path)
    for path, group in groupby(numbered, key=_path):
        with File(joined(base, path), access, limits) as file:
            claims.add_file(os.path.getsize(file.path))
            for _, each, row in group:
                sample = Sample(file, each)
                leaves.read(file, sample.group, each, row)
    return leaves.columns(len(samples))


def _path(item: tuple[str, str, int]) -> str:
    return item[0]
