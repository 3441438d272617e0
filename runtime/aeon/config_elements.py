"""Check whether aeon can decode the elements of a column as its configuration says."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from exset.core.errors import FormatError
from exset.core.text import counted, invalid_utf8
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.runtime.aeon.config_boxes import check_boxes
from exset.runtime.aeon.config_classes import check_classes
from exset.runtime.aeon.config_column import Column
from exset.runtime.aeon.config_media import check_sounds, check_videos
from exset.runtime.aeon.config_pictures import check_pictures
from exset.runtime.aeon.provision.numbers import label_of

_BYTES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("int8_t", "uint8_t", "char"), 1),
    **dict.fromkeys(("int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int32_t", "uint32_t", "float"), 4),
    "double": 8,
}
_NUMBER: Final = 4


def check(column: Column) -> None:
    """Add a finding for each element that aeon cannot decode. Raises LimitError."""
    if column.kind in NUMBER_DTYPES:
        _check_number(column)
        return
    for record, size in column.sizes.items():
        if not size:
            column.report("aeon-element", record, why="the element is empty")
    if column.kind is ElementType.STRING and column.etl.type in _OF_FILES:
        why = "the type STRING gives the text of the field, and not the contents of a file"
        column.refuse(why, "use the type FILE")
    elif column.etl.type in _CHECKS:
        _CHECKS[column.etl.type](column)


def _check_number(column: Column) -> None:
    """Check that each element of a column of numbers has four bytes."""
    of_type = column.etl.type
    if of_type == "label" and not column.etl["binary"]:
        why = f"without binary it reads text, and the type {column.kind} gives four bytes"
        column.refuse(why, 'set "binary": true, or use the type STRING')
    elif of_type == "blob":
        _check_sizes(column, [(0, _NUMBER)] if len(column.manifest) else [])
    elif of_type in ("label", "char_map"):
        if of_type == "label" and column.kind is ElementType.ASCII_INT:
            return
        what = "reads the bytes of a number as text"
        if of_type == "label":
            what = "reads the bits of a float as an integer"
        words = {"where": column.title, "what": what, "hint": "use another type in the manifest"}
        column.findings.add(finding_at("aeon-later", column.of_config("type"), **words))
    else:
        why = f"the type {column.kind} gives four bytes"
        column.refuse(why, f"use the type {'STRING' if of_type == 'label_map' else 'FILE'}")


def _check_label(column: Column) -> None:
    if column.etl["binary"]:
        for record, size in column.sizes.items():
            if size not in (0, _NUMBER):
                why = f"the element has {counted(size, 'byte')}, but a binary label needs four"
                column.report("aeon-element", record, why=why)
        return
    for record, _, data in column.contents():
        if not data:
            continue
        try:
            label_of(data, binary=False)
        except FormatError as error:
            column.report("aeon-element", record, why=error.message)


def _check_blob(column: Column) -> None:
    _check_sizes(column, column.sizes.items())


def _check_sizes(column: Column, sizes: Iterable[tuple[int, int]]) -> None:
    needed = column.etl.number("output_count") * _BYTES[str(column.etl["output_type"])]
    for record, size in sizes:
        words = {"size": f"{size:,}", "needed": counted(needed, "byte")}
        if size > needed:
            column.report("aeon-blob-long", record, **words)
        elif 0 < size < needed:
            column.report("aeon-blob-short", record, **words)


def _check_char_map(column: Column) -> None:
    for record, _, data in column.contents():
        if (at := invalid_utf8(data)) is not None:
            column.report("aeon-element", record, why=f"byte {at} is not UTF-8")


def _check_label_map(column: Column) -> None:
    used: dict[str, list[int]] = {}
    for record, _, data in column.contents():
        for word in data.split():
            used.setdefault(word.decode("utf-8", "surrogateescape"), []).append(record)
    check_classes(column, used)


_OF_FILES: Final = ("image", "pixelmask", "video", "audio")
"""The etl types that decode the contents of files."""

_CHECKS: Final[Mapping[str, Callable[[Column], None]]] = {
    **dict.fromkeys(("image", "pixelmask"), check_pictures),
    "video": check_videos,
    "audio": check_sounds,
    "label": _check_label,
    "blob": _check_blob,
    "char_map": _check_char_map,
    "label_map": _check_label_map,
    **dict.fromkeys(
        ("boundingbox", "localization", "localization_rcnn", "localization_ssd"), check_boxes
    ),
}
