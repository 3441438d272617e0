"""Collect the fields of groups as columns. Each group is a row."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings, FormatError
from exset.core.text import counted, invalid_utf8, safe
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.cells import CELL, absent_size
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text
from exset.grammars.tables.hdf5_findings import finding_at
from exset.runtime.hdf5.arrays import UNSUPPORTED, Claims, unsupported, values_of
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.names import name_of
from exset.runtime.hdf5.template import Template

_Value: TypeAlias = NDArray[Any] | bytes | list[bytes | None]
_Kind: TypeAlias = tuple[np.dtype[Any], int] | type[bytes] | type[list[Any]]
"""The dtype and the number of dimensions of an array; bytes for text, list for lists of text."""


@dataclass
class Form:
    """The properties that all values of a field share.

    order: the first row with the field, and the number of fields before it in this row. shape: the
    shape of each array; None if arrays differ in shape. is_text: whether all text is UTF-8.
    """

    kind: _Kind
    order: tuple[int, int]
    shape: tuple[int, ...] | None = None
    is_text: bool = True


Forms: TypeAlias = dict[str, Form]
"""The form of each field, by the name of its column."""


@dataclass
class _Leaf:
    """The values of one field, and the row of each value."""

    values: list[_Value] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)


class Leaves:
    """Collects the fields of groups that are read one after another.

    size: the approximate number of bytes of all values. findings: gets a finding for each field
    that tables cannot store. If None, such a field is an error, and so is any field other than
    numbers, bool and text. left_out: the fields that already have a finding.
    """

    def __init__(
        self,
        claims: Claims,
        findings: Findings | None,
        left_out: set[str] | None = None,
        forms: Forms | None = None,
    ) -> None:
        self.size = 0
        self.forms: Forms = {} if forms is None else forms
        self.claims = claims
        self._findings = findings
        self._leaves: dict[str, _Leaf] = {}
        self._count = 0
        self._left_out: set[str] = set() if left_out is None else left_out
        self._template: Template | None = None
        self._is_first = True

    def read(self, file: File, group: Any, path: str, row: int) -> None:
        """Read all fields of a group as the values of row `row`.

        Raises FormatError and LimitError.
        """
        self._count = 0
        values = None if self._template is None else self._template.values(group)
        if values is not None:
            for name, each in values.items():
                if not isinstance(each, np.ndarray):
                    [text] = file.read_strings(each, path)
                    each = text.encode("utf-8", "surrogateescape")
                self.claims.add(file, len(each) if isinstance(each, bytes) else each.nbytes, path)
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
        values = values_of(file, dataset, path, self.claims, plain=self._findings is None)
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
        order, self._count = (row, self._count), self._count + 1
        kind = _kind_of(value)
        if (form := self.forms.get(name)) is None:
            form = self.forms[name] = Form(kind, order, getattr(value, "shape", None))
        elif kind != form.kind:
            before = _described(form.kind)
            message = f"{safe(name)} is {_described(kind)} here, but {before} in earlier samples"
            hint = "each field must have one type in all samples"
            raise FormatError(message, place=file.place(path), hint=hint, code="hdf5-odd-sample")
        form.order = min(form.order, order)
        if not isinstance(value, np.ndarray):
            form.is_text = form.is_text and _is_utf8(value)
        elif value.shape != form.shape:
            form.shape = None
        leaf.values.append(value)
        leaf.rows.append(row)
        self.size += value.nbytes if isinstance(value, np.ndarray) else len(value)

    def forget(self) -> None:
        """Forget the values, but not their forms."""
        self._leaves, self.size = {}, 0

    def columns(self, rows: int, first: int = 0) -> dict[str, TableColumn]:
        """Return the fields as columns of `rows` (a number) rows. first: the number of the first
        row.

        If a group lacks a field, its row has no value. If the arrays of a field differ in shape,
        they become lists. Arrays of more than one dimension are then flattened, and a column
        `NAME.shape` has their shapes.
        """
        columns: dict[str, TableColumn] = {}
        for name, form in sorted(self.forms.items(), key=lambda item: item[1].order):
            leaf = self._leaves.get(name, _Leaf())
            present = np.zeros(rows, np.bool_)
            present[np.array(leaf.rows, np.int64) - first] = True
            self.claims.add_absent((rows - len(leaf.rows)) * _size_of(form), name)
            order = np.argsort(leaf.rows).tolist()
            columns |= _columns(name, form, [leaf.values[at] for at in order], present)
        return columns


def _size_of(form: Form) -> int:
    """Return how many bytes a row without the field takes in its column."""
    if isinstance(form.kind, tuple) and form.shape is not None:
        return absent_size(form.kind[0], form.shape)
    return CELL


def _kind_of(value: _Value) -> _Kind:
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    return bytes if isinstance(value, bytes) else list


def _described(kind: _Kind) -> str:
    if isinstance(kind, tuple):
        return f"{kind[0]} with {counted(kind[1], 'dimension')}"
    return "text" if kind is bytes else "a list of text"


def _is_utf8(value: bytes | list[bytes | None]) -> bool:
    values = (value,) if isinstance(value, bytes) else value
    return all(invalid_utf8(each) is None for each in values if each)


def _columns(name: str, form: Form, values: list[Any], present: Flags) -> dict[str, TableColumn]:
    if form.kind is bytes:
        found = iter(values)
        strings = Strings.of(next(found) if has else None for has in present.tolist())
        return {name: _strings(strings, form)}
    if form.kind is list:
        lengths = _spread([len(each) for each in values], present)
        items = _strings(Strings.of(item for each in values for item in each), form)
        return {name: Lists.of(items, lengths, present)}
    assert isinstance(form.kind, tuple), "the other fields are arrays"
    dtype, rank = form.kind
    if form.shape is not None:
        whole = np.zeros((present.size, *form.shape), dtype)
        if values:
            whole[present] = np.stack(values)
        return {name: Numbers.of(whole, present)}
    lengths = _spread([each.size for each in values], present)
    flat = np.concatenate([np.empty(0, dtype), *(each.reshape(-1) for each in values)])
    columns: dict[str, TableColumn] = {name: Lists.of(Numbers.of(flat), lengths, present)}
    if rank > 1:
        shapes = np.zeros((present.size, rank), np.int64)
        if values:
            shapes[present] = [each.shape for each in values]
        columns[f"{name}.shape"] = Numbers.of(shapes, present)
    return columns


def _strings(strings: Strings, form: Form) -> Strings:
    return Text.unchecked(**vars(strings)) if form.is_text else strings


def _spread(lengths: list[int], present: Flags) -> Longs:
    """Return the length of each row. A row with a value has the next of `lengths`, other rows have
    0.
    """
    spread = np.zeros(present.size, np.int64)
    spread[present] = lengths
    return spread
