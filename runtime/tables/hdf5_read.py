"""Read HDF5 files of any program as tables: rows on the first axis, or a group for each row."""

import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np
from h5py import h5ds

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import flat
from exset.grammars.tables.columns import TableColumn
from exset.grammars.tables.findings import finding_at as table_finding_at
from exset.grammars.tables.flat_parts import InMemory, unflattened
from exset.grammars.tables.hdf5_findings import finding_at
from exset.grammars.tables.table import Table
from exset.io.access import Access
from exset.runtime.hdf5 import groups
from exset.runtime.hdf5.arrays import UNSUPPORTED, Claims, values_of
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.metadata import DEPTH, DTYPES, NAMES, STORED, read_metadata
from exset.runtime.hdf5.names import name_of

_PLACEHOLDER: Final = b"This is a netCDF dimension but not a netCDF variable"
DATES: Final = re.compile(r"(datetime|timedelta)64\[(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]")

_Values: TypeAlias = flat.Array | TableColumn


def read(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    layout: str = "",
) -> Table:
    """Return the table in an HDF5 file. Raises FormatError and LimitError.

    layout: "rows" reads each dataset as a column, "groups" reads each group like the first one as a
    row; by default exset finds out from the file.
    """
    found = Findings() if findings is None else findings
    # HDF5 itself reads a file several times as fast as its content in memory.
    is_mapped = bool(source.path) and isinstance(source.content, memoryview)
    content = None if is_mapped else source.data
    name = source.path or source.name
    with File(name, Access(locking=False), limits, content) as file:
        return read_open(file, len(source.view), limits, found, layout)


def read_open(file: File, size: int, limits: Limits, findings: Findings, layout: str) -> Table:
    """Return the table in an open file of `size` bytes; arguments and errors are as for `read`."""
    stored, claims = read_metadata(file), Claims(limits)
    claims.add_file(size)
    if has_groups(file, stored, layout):
        return groups.read(file, stored, claims, findings)
    return _first_axis(file, stored, claims, findings)


def has_groups(file: File, stored: dict[str, Any], layout: str) -> bool:
    """Return whether a file has a group for each row.

    stored: the metadata of the file. layout: as for `read`.
    """
    own = stored.get(STORED)
    if not layout and isinstance(own, dict):
        return DEPTH in own
    return layout == "groups" or (not layout and groups.has_samples(file))


def read_groups(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table in an HDF5 file with a group for each row. Raises the errors of `read`."""
    return read(source, limits=limits, findings=findings, engine=engine, layout="groups")


def _first_axis(file: File, stored: dict[str, Any], claims: Claims, findings: Findings) -> Table:
    arrays, labels = _datasets(file, claims, findings)
    metadata = {k: v for k, v in stored.items() if k not in ("columns", "rows", STORED)}
    if isinstance(own := stored.get(STORED), dict):
        columns = {name: stored.get(name) for name in ("columns", "rows")}
        if (table := _restored(arrays, {**metadata, **columns}, own)) is not None:
            return table
        findings.add(finding_at("hdf5-changed", Place(file.path)))
    lengths = {len(each) for each in arrays.values() if getattr(each, "ndim", 1)}
    for name, values in labels.items():
        if len(values) in lengths:
            arrays[name] = values
        else:
            place = file.place(name)
            problem = "it has the labels of an axis, and not a value for each row"
            findings.add(finding_at("hdf5-left-out", place, problem=problem))
    try:
        table, is_single = flat.from_foreign(arrays)
    except ValueError as error:
        raise FormatError(safe(str(error)), place=Place(file.path), code=UNSUPPORTED) from None
    if is_single:
        findings.add(table_finding_at("table-one-row", Place(file.path)))
    return table.with_metadata(metadata)


def _datasets(
    file: File, claims: Claims, findings: Findings
) -> tuple[dict[str, _Values], dict[str, _Values]]:
    """Return the values of all datasets by name, and separately those that label axes.

    Adds a finding for each dataset that a table cannot store.
    """
    found: dict[str, _Values] = {}
    labels: dict[str, _Values] = {}
    for path, dataset, is_scale in data_of(file):
        try:
            values = values_of(file, dataset, path, claims)
        except FormatError as error:
            if error.code != UNSUPPORTED:
                raise
            problem = error.finding.message
            findings.add(finding_at("hdf5-left-out", file.place(path), problem=problem))
            continue
        if isinstance(values, Strings) and not dataset.rank:
            values = np.asarray(values[0])
        into = labels if is_scale and dataset.rank else found
        if (name := name_of(path)) in into:
            raise FormatError(
                f"two datasets become the column {safe(name)!r}",
                place=file.place(path),
                hint="rename one of them",
                code="table-names",
            )
        into[name] = values
    return found, labels


def data_of(file: File) -> Iterator[tuple[str, Any, bool]]:
    """Yield each dataset with values: its path, the dataset, and whether it labels an axis."""
    for path, dataset in file.datasets(file.find(""), ""):
        with file.guarded(path):
            is_scale = h5ds.is_scale(dataset)
            if is_scale and h5ds.get_scale_name(dataset).startswith(_PLACEHOLDER):
                continue
        yield path, dataset, is_scale


def _restored(
    arrays: dict[str, _Values], stored: dict[str, Any], own: dict[str, Any]
) -> Table | None:
    """Return the table that exset wrote to a file; None if the datasets were changed since.

    arrays: the datasets. stored: the metadata. own: the part of the metadata with the names and
    dtypes that HDF5 cannot store.
    """
    names, dtypes = own.get(NAMES), own.get(DTYPES)
    named: dict[str, flat.Array] = {}
    for name, values in arrays.items():
        name = names.get(name, name) if isinstance(names, dict) else name
        if isinstance(values, Strings):
            named[f"{name}.values"], named[f"{name}.offsets"] = values.data, values.offsets
        elif isinstance(values, np.ndarray):
            named[name] = values
        else:
            return None
    parts = InMemory(named)
    try:
        for name, dtype in dtypes.items() if isinstance(dtypes, dict) else ():
            if isinstance(dtype, str) and DATES.fullmatch(dtype):
                named[name] = named[name].view(dtype)
        table = unflattened(parts, stored)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return table if parts.used == named.keys() else None
