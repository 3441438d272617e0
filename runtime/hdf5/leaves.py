"""Collect the fields of groups, one group for each row, as columns."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings, FormatError
from exset.core.text import safe
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.hdf5_findings import finding_at
from exset.runtime.hdf5.arrays import UNSUPPORTED, Claims, unsupported, values_of
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.names import name_of
from exset.runtime.hdf5.template import Template

_Value: TypeAlias = NDArray[Any] | bytes | list[bytes | None]


@dataclass
class _Leaf:
    """The values of a field, and the row of each value."""

    values: list[_Value] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)


class Leaves:
    """The fields of the groups that have been read. `size`: roughly, the bytes of their values.

    findings: gets a finding for each field that tables cannot hold. With None such a field is an
    error, and so is any field other than numbers, bool and text. left_out: the fields that already
    have a finding.
    """

    def __init__(
        self, claims: Claims, findings: Findings | None, left_out: set[str] | None = None
    ) -> None:
        self.size = 0
        self._claims = claims
        self._findings = findings
        self._leaves: dict[str, _Leaf] = {}
        self._left_out: set[str] = set() if left_out is None else left_out
        self._template: Template | None = None
        self._is_first = True

    def read(self, file: File, group: Any, path: str, row: int) -> None:
        """Read all fields of a group as a row. Raises FormatError and LimitError."""
        values = None if self._template is None else self._template.values(group)
        if values is not None:
            for name, each in values.items():
                if not isinstance(each, np.ndarray):
                    [text] = file.read_strings(each, path)
                    each = text.encode("utf-8", "surrogateescape")
                self._claims.add(file, len(each) if isinstance(each, bytes) else each.nbytes, path)
                self._put(file, name, path, row, each)
            return
        names: dict[tuple[str, ...], str] = {}
        for below, dataset in file.datasets(group, path):
            name = names[tuple(below.split("/"))] = name_of(below)
            try:
                self._read(file, dataset, name, f"{path}/{below}", row)
            except FormatError as error:
                if error.code != UNSUPPORTED or self._findings is None:
                    raise
                if name not in self._left_out:
                    self._left_out.add(name)
                    place, problem = file.place(f"{path}/{below}"), error.finding.message
                    self._findings.add(finding_at("hdf5-left-out", place, problem=problem))
        if self._is_first:
            self._is_first = False
            with file.guarded(path):
                self._template = Template.of(group, names)

    def _read(self, file: File, dataset: Any, name: str, path: str, row: int) -> None:
        values = values_of(file, dataset, path, self._claims, plain=self._findings is None)
        if isinstance(values, Strings):
            rows = values.tolist() if isinstance(values, Strings) else []
            raw = [each.encode() if isinstance(each, str) else each for each in rows]
            self._put(file, name, path, row, raw if dataset.rank else raw[0] or b"")
        elif isinstance(values, Lists):
            if dataset.rank or not isinstance(values.items, Numbers):
                raise unsupported(file, "lists of lists", path)
            self._put(file, name, path, row, values.items.values)
        elif isinstance(values, np.ndarray) and values.dtype.names:
            for each in values.dtype.names:
                self._put(file, f"{name}.{each}", path, row, values[each])
        else:
            assert isinstance(values, np.ndarray)
            self._put(file, name, path, row, values)

    def _put(self, file: File, name: str, path: str, row: int, value: _Value) -> None:
        leaf = self._leaves.setdefault(name, _Leaf())
        if leaf.rows and leaf.rows[-1] == row:
            message = f"two fields become the column {safe(name)!r}"
            raise FormatError(message, place=file.place(path), code="table-names")
        if leaf.values and not _is_alike(value, first := leaf.values[0]):
            message = f"{safe(name)} is {_described(value)} here, but {_described(first)} before"
            hint = "each field must have one type in all samples"
            raise FormatError(message, place=file.place(path), hint=hint, code="hdf5-odd-sample")
        leaf.values.append(value)
        leaf.rows.append(row)
        self.size += value.nbytes if isinstance(value, np.ndarray) else len(value)

    def columns(self, rows: int) -> dict[str, TableColumn]:
        """Return the columns for a number of rows; a row is absent where its group lacks the field.

        Arrays of several shapes become lists; those with more than one dimension are flattened, and
        the column `NAME.shape` has their shapes.
        """
        columns: dict[str, TableColumn] = {}
        for name, leaf in self._leaves.items():
            present = np.zeros(rows, np.bool_)
            present[leaf.rows] = True
            order = np.argsort(leaf.rows).tolist()
            columns |= _columns(name, [leaf.values[at] for at in order], present)
        return columns


def _is_alike(one: _Value, other: _Value) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.ndim == other.ndim
    return type(one) is type(other)


def _described(value: _Value) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} with {value.ndim} dimensions"
    return "text" if isinstance(value, bytes) else "a list of text"


def _columns(name: str, values: list[Any], present: Flags) -> dict[str, TableColumn]:
    first = values[0]
    if isinstance(first, bytes):
        found = iter(values)
        strings = Strings.of(next(found) if has else None for has in present.tolist())
        return {name: text_or_bytes(strings)}
    if isinstance(first, list):
        lengths = _spread([len(each) for each in values], present)
        items = text_or_bytes(Strings.of(item for each in values for item in each))
        return {name: Lists.of(items, lengths, present)}
    if all(each.shape == first.shape for each in values):
        whole = np.zeros((present.size, *first.shape), first.dtype)
        whole[present] = np.stack(values)
        return {name: Numbers.of(whole, present)}
    lengths = _spread([each.size for each in values], present)
    flat = np.concatenate([each.reshape(-1) for each in values])
    columns: dict[str, TableColumn] = {name: Lists.of(Numbers.of(flat), lengths, present)}
    if first.ndim > 1:
        shapes = np.zeros((present.size, first.ndim), np.int64)
        shapes[present] = [each.shape for each in values]
        columns[f"{name}.shape"] = Numbers.of(shapes, present)
    return columns


def _spread(lengths: list[int], present: Flags) -> Longs:
    """Return the length of each row; an absent row has the length 0."""
    spread = np.zeros(present.size, np.int64)
    spread[present] = lengths
    return spread
