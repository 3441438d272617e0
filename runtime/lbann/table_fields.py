"""Read the fields of the samples of a list as columns: first find the columns, then read parts.

A part is some consecutive samples of a chunk.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.core.text import safe
from exset.grammars.lbann.labels import Labels
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.tables.columns import Numbers, TableColumn, Text
from exset.io import files
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.beneath import OutsideError, check_regular_file
from exset.runtime.hdf5.arrays import Claims
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.leaves import Forms, Leaves
from exset.runtime.hdf5.names import name_of
from exset.runtime.lbann.sample_layout import Sample
from exset.runtime.lbann.sample_reader import SampleReader, joined
from exset.runtime.lbann.table_options import Options
from exset.runtime.training.dataset import Values, checked_names

PART: Final = 1 << 24
"""The approximate number of bytes of the samples that are read at once."""
_ROW: Final = 256
"""The bytes that a sample takes in memory apart from its values, while it is read."""


@dataclass
class Fields:
    """The base class, which reads no fields. It serves lists with integer ids, and calls that
    choose no field.

    options: the options of `to_table`. findings: collects the findings while the columns are
    searched. at_once: whether each chunk of the list is read as one part, however large it is.
    """

    limits: Limits
    options: Options
    findings: Findings
    at_once: bool

    def survey(self, samples: SampleList, first: int) -> Iterable[int]:
        """Find the columns in the next chunk of a list. Return the rows at which parts end.

        first: the number of samples before the chunk. Raises the errors of `to_table`.
        """
        return (first + len(samples),)

    def columns(
        self, samples: SampleList, first: int, rows: range, findings: Findings
    ) -> dict[str, TableColumn]:
        """Return the columns of some samples of a chunk. Their types are the same in all chunks.

        rows: the indices of the samples in the chunk.
        """
        return {}

    @property
    def base(self) -> str:
        """The folder in which relative paths start."""
        return self.options.get("base", "")

    @property
    def access(self) -> Access:
        """How files may be opened."""
        return self.options.get("access", DEFAULT_ACCESS)


@dataclass
class LabelFields(Fields):
    """The column `label` of a list of images, if the list names a label file."""

    _labels: Labels | None = field(default=None, init=False)

    def survey(self, samples: SampleList, first: int) -> Iterable[int]:
        """Read the label file before the first chunk."""
        if self._labels is None and samples.label_file:
            self._labels = self._read(os.fsdecode(samples.label_file))
        return super().survey(samples, first)

    def columns(
        self, samples: SampleList, first: int, rows: range, findings: Findings
    ) -> dict[str, TableColumn]:
        """Return the column `label` for some samples of a chunk. A file without a label has no
        value.

        rows: the indices of the samples in the chunk.
        """
        if self._labels is None:
            return {}
        values, present = self._labels.of(samples)
        return {"label": Numbers.of(values[rows], present[rows])}

    def _read(self, name: str) -> Labels:
        from exset.parsers.lbann.labels import parse
        from exset.runtime.lbann.hdf5_probe import outside_roots

        path, roots = os.path.join(self.base, name), self.access.roots
        try:
            check_regular_file(path, roots)
            source = files.read(files.local(path), limits=self.limits, roots=roots)
        except OutsideError:
            raise FormatError.of(outside_roots(path)) from None
        return parse(source, limits=self.limits, findings=self.findings)


@dataclass
class SchemaFields(Fields):
    """The fields that LBANN would load with two schemas."""

    _reader: SampleReader | None = field(default=None, init=False)

    def survey(self, samples: SampleList, first: int) -> Iterable[int]:
        """Find the layout, which the first sample of the list has."""
        if not len(samples):
            return (first,)
        if self._reader is None:
            self._reader = SampleReader(
                samples,
                self.options.get("data"),
                self.options.get("experiment"),
                fields=self.options.get("fields"),
                base=self.base,
                keep_packed=self.options.get("keep_packed", False),
                access=self.access,
                limits=self.limits,
                findings=self.findings,
            )
        rows = max(1, PART // max(1, self._reader.layout.bytes))
        end = first + len(samples)
        return (end,) if self.at_once else (*range(first + rows, end, rows), end)

    def columns(
        self, samples: SampleList, first: int, rows: range, findings: Findings
    ) -> dict[str, TableColumn]:
        """Return the columns of some samples of a chunk.

        rows: the indices of the samples in the chunk. Raises FormatError if two fields would become
        one column.
        """
        if self._reader is None:
            return {}
        columns: dict[str, TableColumn] = {}
        for path, values in self._reader.of_samples(samples, findings).batch(rows).items():
            if (name := name_of(path)) in columns:
                message = f"two fields become the column {safe(name)!r}"
                raise FormatError(message, hint="rename one of them", code="table-names")
            columns[name] = _column(values)
        return columns


def _column(values: Values) -> TableColumn:
    if values.dtype.hasobject:
        return Text.of(values.reshape(-1).tolist())
    return Numbers.of(values)


@dataclass
class StoredFields(Fields):
    """All fields of the samples in the files. If a sample lacks a field, its row has no value."""

    _forms: Forms = field(default_factory=dict, init=False)
    _kept: Leaves | None = field(default=None, init=False)
    """The values of all samples, if they are few."""

    def survey(self, samples: SampleList, first: int) -> Iterable[int]:
        """Read all samples of the chunk. If the values of all samples of the list fit into one
        part, they are kept.

        Return the rows at which parts end.
        """
        leaves, is_kept, before = self._leaves(), not first, 0
        sizes = np.zeros(len(samples), np.int64)
        for row in self._read(samples, first, range(len(samples)), leaves):
            sizes[row] = leaves.size - before
            is_kept = is_kept and (self.at_once or leaves.size <= PART)
            if not is_kept:
                leaves.forget()
            before = leaves.size
        self._kept = leaves if is_kept else None
        part = np.cumsum(sizes + _ROW) // (1 << 62 if self.at_once else PART)
        return (*(first + 1 + np.flatnonzero(np.diff(part))).tolist(), first + len(samples))

    def columns(
        self, samples: SampleList, first: int, rows: range, findings: Findings
    ) -> dict[str, TableColumn]:
        """Return the columns of some samples of a chunk.

        first: the number of samples before the chunk. rows: the indices of the samples in the
        chunk. Raises ValueError if a chosen field is in no sample.
        """
        leaves = self._kept
        if leaves is None or len(rows) < len(samples):
            leaves = self._leaves()
            for _ in self._read(samples, first, rows, leaves):
                pass
        found = leaves.columns(len(rows), first + rows.start)
        fields = self.options.get("fields")
        if fields is None or not len(samples):
            return found
        return {name: found[name] for name in checked_names("fields", fields, [*found])}

    def _leaves(self) -> Leaves:
        return Leaves(Claims(self.limits), None, forms=self._forms)

    def _read(self, samples: SampleList, first: int, rows: range, leaves: Leaves) -> Iterator[int]:
        """Read samples into `leaves`, file by file. Yield the row in the chunk of each sample."""
        pairs = zip(samples.pairs_at(np.array(rows, np.int64)), rows, strict=True)
        numbered = sorted(((path, str(each), row) for (path, each), row in pairs), key=_path)
        for path, group in groupby(numbered, key=_path):
            with File(joined(self.base, path), self.access, self.limits) as file:
                leaves.claims.add_file(os.path.getsize(file.path))
                for _, each, row in group:
                    sample = Sample(file, each)
                    leaves.read(file, sample.group, each, first + row)
                    yield row


def _path(item: tuple[str, str, int]) -> str:
    return item[0]
