"""Compare two manifests, blocks or configurations; see `exset.diff`."""

import numpy as np

from exset.core.text import counted
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Flags
from exset.grammars.columns.blobs import Blobs
from exset.runtime.aeon.elements import Elements, elements
from exset.runtime.reports.column_diff import ColumnDiff, text_of, unequal, unequal_strings
from exset.runtime.reports.differences import Differences, leaves, of_trees

_SPELLED = (ElementType.ASCII_INT, ElementType.ASCII_FLOAT, ElementType.BINARY)
"""The types for which different fields can mean the same value."""
_SHOWN = 16


def manifests(one: Manifest, other: Manifest, tolerance: float, keep: int, /) -> Differences:
    """Compare two manifests field by field; their dialects may differ.

    Columns of numbers are compared as numbers, and columns of BINARY as bytes. Fields that aeon
    drops are not compared. tolerance: how much two numbers may differ. keep: how many differences
    to keep.
    """
    diff = ColumnDiff("records", len(one), len(other), tolerance, keep)
    if one.types != other.types and len(one) and len(other):
        diff.add("types", " ".join(one.types), " ".join(other.types))
    for column in range(min(len(one.types), len(other.types))):
        a, b = one.column(column), other.column(column)
        mask = unequal_strings(diff.units, a, b)
        if mask.any() and one.types[column] == other.types[column] in _SPELLED:
            x, y = elements(one, column), elements(other, column)
            rows = np.flatnonzero(mask)
            rows = rows[~(_failed(x, len(one))[rows] | _failed(y, len(other))[rows])]
            if one.types[column] is ElementType.BINARY:
                pairs = zip(x.strings.take(rows), y.strings.take(rows), strict=True)
                mask[rows] = [mine != theirs for mine, theirs in pairs]
            else:
                mask[rows] = unequal(x.numbers[rows], y.numbers[rows], tolerance)
        diff.mark(diff.units, mask, f".fields[{column}]", (a, b), text_of)
    return diff.result()


def _failed(column: Elements, count: int) -> Flags:
    failed = np.zeros(count, np.bool_)
    failed[[error.record for error in column.errors]] = True
    return failed


def blocks(one: Block, other: Block, tolerance: float, keep: int, /) -> Differences:
    """Compare the elements of two blocks or archives.

    Names and modes are compared only if both are archives. Times are not compared.

    keep: how many differences to keep.
    """
    a, b = one.elements, other.elements
    diff = ColumnDiff("elements", len(a), len(b), tolerance, keep)
    if len(one) != len(other) and one.header is not None and other.header is not None:
        diff.add("records", len(one), len(other))
    if one.header is None and other.header is None:
        diff.strings(diff.units, "name", a.name, b.name)
        diff.numbers(diff.units, "mode", a.mode, b.mode)
    pairs = zip(a.data, b.data, strict=False)
    mask = np.fromiter((x != y for x, y in pairs), np.bool_, diff.units.one.size)
    diff.mark(diff.units, mask, ".data", (a.data, b.data), _hex)
    return diff.result()


def _hex(data: Blobs, row: int) -> str:
    blob = data[row]
    more = "..." if len(blob) > _SHOWN else ""
    return f"{counted(len(blob), 'byte')} {bytes(blob[:_SHOWN]).hex()}{more}"


def configs(one: LoaderConfig, other: LoaderConfig, tolerance: float, keep: int, /) -> Differences:
    """Compare two configurations: their values, including the defaults, and their outputs.

    tolerance: how much two numbers may differ. keep: how many differences to keep.
    """
    return of_trees(_values(one), _values(other), tolerance, keep)


def _values(config: LoaderConfig) -> dict[str, object]:
    outputs = {output.name: output.to_dict() for output in config.outputs}
    members = config.settings.to_dict(defaults=True)
    return {**dict(leaves("", members)), **dict(leaves("outputs", outputs))}
