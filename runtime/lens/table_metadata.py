"""The metadata of an example set's table: the set's header and groups, as JSON."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, cast

import numpy as np

from exset.core.errors import FormatError, Place
from exset.core.protocols import Level
from exset.core.text import safe
from exset.grammars.columns.inputs import real
from exset.grammars.lens.columns import REAL_FIELDS, SetHeader
from exset.grammars.tables.origin import VERSION, origin
from exset.runtime.lens.network_layout import SIDES, Layout, Side

FAMILY: Final = "lens"

"""The version of the metadata that exset writes and reads."""

Groups = list[tuple[bytes | None, int]]
"""The groups of one side in the order of the network: names, None for no groups, and sizes."""


@dataclass(frozen=True)
class Metadata:
    """The facts about an example set that its table's metadata contain.

    groups: the groups of each side, if the metadata have them. is_by_example: whether a row is an
    example, with lists over its events.
    """

    header: SetHeader
    groups: dict[Side, Groups]
    is_by_example: bool


def to_json(
    header: SetHeader, layouts: Mapping[Side, Layout | None], level: Level, rows: str
) -> dict[str, Any]:
    """Return the metadata of a table: the header of its set, and the groups with their sizes.

    layouts: of inputs and of targets; None if unknown. level, rows: the options with which the
    table was made.
    """
    reals: dict[str, Any] = {field: _real(header.real(field)) for field in REAL_FIELDS}
    if header.proc is not None:
        reals["proc"] = _text(header.proc)
    groups = {
        side: [[None if name is None else _text(name), size] for name, size in groups_of(layout)]
        for side, layout in layouts.items()
        if layout is not None
    }
    found = {**origin(FAMILY, level), "rows": rows, "header": reals}
    return {**found, "groups": groups} if groups else found


def groups_of(layout: Layout) -> Groups:
    """Return (name, size) for each group of a layout.

    Without groups, return the name None with the number of all units.
    """
    if not layout.groups:
        return [(None, layout.units)]
    return [(name.encode("utf-8", "surrogateescape"), size) for name, size in layout.groups.items()]


def column_names(side: Side, groups: Groups) -> list[str]:
    """Return the name of each group's column, such as `inputs.onset`.

    Characters that some formats cannot store in a name are escaped.
    """
    taken: dict[str, None] = {}
    for name, _ in groups:
        text = None if name is None else safe(name.decode("utf-8", "surrogateescape"))
        column = stem = side if text is None else f"{side}.{text}"
        number = 2
        while column in taken:
            column, number = f"{stem}~{number}", number + 1
        taken[column] = None
    return list(taken)


def from_json(metadata: Mapping[str, Any]) -> Metadata:
    """Read the metadata of a table. Return defaults for a table that exset did not write.

    Raises FormatError for metadata that exset does not write.
    """
    if metadata.get("family") != FAMILY:
        return Metadata(SetHeader(), {}, is_by_example=False)
    if metadata.get("version") != VERSION:
        _damaged("version", f"is not {VERSION}, the only one that exset reads")
    groups = _object("groups", metadata.get("groups", {}))
    known: dict[Side, Groups] = {
        side: [_group(side, each) for each in _items(side, groups[side])]
        for side in SIDES
        if side in groups
    }
    header = _header(_object("header", metadata.get("header", {})))
    return Metadata(header, known, metadata.get("rows") == "example")


def _header(stored: Mapping[str, Any]) -> SetHeader:
    fields: dict[str, Any] = {}
    for name, value in stored.items():
        if name == "proc":
            fields[name] = _bytes("header.proc", value)
        elif name in REAL_FIELDS:
            fields[name] = _number(f"header.{name}", value)
        else:
            _damaged(f"header.{safe(name)}", "is unknown")
    return SetHeader(**fields)


def _group(side: Side, stored: object) -> tuple[bytes | None, int]:
    match stored:
        case [name, int() as size] if size >= 0 and not isinstance(size, bool):
            return None if name is None else _bytes(f"groups.{side}", name), size
        case _:
            _damaged(f"groups.{side}", "is not a list of pairs [name, size]")


def _real(value: np.float32) -> float | str:
    """Return a number for JSON. NaN and infinity become text, because JSON does not have them."""
    if not np.isfinite(value):
        return str(value)
    shortest = float(str(value))
    return shortest if np.float32(shortest) == value else float(value)


def _number(field: str, stored: object) -> float:
    """Return the number that JSON stores for a field of the header, rounded to float32."""
    is_number = isinstance(stored, int | float) and not isinstance(stored, bool)
    if not is_number and stored not in ("nan", "inf", "-inf"):
        _damaged(field, "is not a number")
    try:
        return real(field, float(cast("float | str", stored)))
    except (ValueError, OverflowError):
        _damaged(field, "does not fit in float32")


def _text(raw: bytes) -> str | dict[str, str]:
    """Return a string for JSON, as text. If it is not UTF-8, return it as base64."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def _bytes(field: str, stored: object) -> bytes:
    try:
        match stored:
            case str():
                return stored.encode()
            case {"base64": str() as encoded}:
                return base64.b64decode(encoded, validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        pass
    _damaged(field, "is not text")


def _object(field: str, stored: object) -> Mapping[str, Any]:
    if not isinstance(stored, dict):
        _damaged(field, "is not an object")
    return stored


def _items(side: Side, stored: object) -> Iterable[object]:
    if not isinstance(stored, list):
        _damaged(f"groups.{side}", "is not a list of pairs [name, size]")
    return stored


def _damaged(field: str, problem: str) -> NoReturn:
    raise FormatError(
        f"the metadata of the table are damaged: {field} {problem}",
        place=Place("table", field=f"metadata.{field}"),
        hint="write the table again, or drop its metadata: table.with_metadata({})",
        code="lens-table",
    )
