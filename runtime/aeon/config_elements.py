"""Check whether aeon can decode the elements of a column as its configuration says."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final

from exset.core.errors import FormatError
from exset.core.source import Source
from exset.core.suggestions import did_you_mean
from exset.core.text import counted, invalid_utf8
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.runtime.aeon import annotations
from exset.runtime.aeon.config_column import Column
from exset.runtime.aeon.config_media import check_sounds, check_videos
from exset.runtime.aeon.provision.numbers import label_of

_BYTES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("int8_t", "uint8_t", "char"), 1),
    **dict.fromkeys(("int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int32_t", "uint32_t", "float"), 4),
    "double": 8,
}
_NUMBER: Final = 4
_SHOWN: Final = 5
_BEGINNING: Final = 12
_PICTURES: Final = (
    *(b"\xff\xd8\xff", b"\x89PNG", b"BM", b"II*\0", b"MM\0*", b"RIFF", b"P1", b"P2", b"P3", b"P4"),
    *(b"P5", b"P6", b"P7", b"Pf", b"PF", b"\0\0\0", b"\xff\x4f", b"\x59\xa6\x6a\x95"),
    *(b"v/1\1", b"#?"),
)
"""The first bytes of the pictures that OpenCV reads: JPEG, PNG, BMP, TIFF, WebP, PNM and others."""


def check(column: Column) -> None:
    """Add a finding for each element that aeon cannot decode. Raises LimitError."""
    if column.kind in NUMBER_DTYPES:
        _check_number(column)
        return
    for record, size in column.sizes.items():
        if not size:
            column.report("aeon-element", record, why="it is empty")
    if column.kind is ElementType.STRING and column.etl.type in _OF_FILES:
        why = "the type STRING gives the text of the field, and not the contents of a file"
        column.refuse(why, "use the type FILE")
    elif column.etl.type in _CHECKS:
        _CHECKS[column.etl.type](column)


def _check_number(column: Column) -> None:
    """Check a column of numbers: each element has four bytes."""
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
                why = f"it has {counted(size, 'byte')}, but a binary label needs four"
                column.report("aeon-element", record, why=why)
        return
    for record, _, data in column.contents():
        if not data:
            continue
        try:
            label_of(data, binary=False)
        except FormatError as error:
            column.report("aeon-element", record, why=error.message)


def _check_pictures(column: Column) -> None:
    for record, begin in column.beginnings(_BEGINNING):
        if begin and not begin.startswith(_PICTURES):
            column.report("aeon-no-picture", record)


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
            column.report("aeon-element", record, why=f"byte {at} of it is not UTF-8")


def _check_label_map(column: Column) -> None:
    used: dict[str, int] = {}
    for record, _, data in column.contents():
        for word in data.split():
            used.setdefault(word.decode("utf-8", "surrogateescape"), record)
    _check_classes(column, used)


def _check_boxes(column: Column) -> None:
    used: dict[str, int] = {}
    for record, name, data in column.contents():
        if not data:
            continue
        try:
            annotation = annotations.read(Source(name, data), column.options.limits)
        except FormatError as error:
            column.findings.add(error.finding)
            continue
        if why := annotations.problem(annotation):
            column.report("aeon-element", record, why=why)
            continue
        for each in annotations.classes(annotation):
            used.setdefault(each, record)
    _check_classes(column, used)


def _check_classes(column: Column, used: Mapping[str, int]) -> None:
    """Compare the classes of elements with `class_names`. used: the first record of each."""
    names = column.etl["class_names"]
    listed = names if isinstance(names, tuple) else ()
    known = dict.fromkeys(each for each in listed if isinstance(each, str))
    for name, record in used.items():
        if name not in known:
            hint = did_you_mean(name, known) or "add it to class_names"
            column.report("aeon-class-unknown", record, name=name, hint=hint)
    unused = [name for name in known if name not in used]
    if unused and used:
        shown = ", ".join(map(repr, islice(unused, _SHOWN)))
        more = f" and {len(unused) - _SHOWN:,} more" if len(unused) > _SHOWN else ""
        place, words = column.of_config("class_names"), {"title": column.title}
        words |= {"names": shown + more, "noun": "class" if len(unused) == 1 else "classes"}
        column.findings.add(finding_at("aeon-class-unused", place, **words))


_OF_FILES: Final = ("image", "pixelmask", "video", "audio")
"""The etl types that decode the contents of files."""

_CHECKS: Final[Mapping[str, Callable[[Column], None]]] = {
    **dict.fromkeys(("image", "pixelmask"), _check_pictures),
    "video": check_videos,
    "audio": check_sounds,
    "label": _check_label,
    "blob": _check_blob,
    "char_map": _check_char_map,
    "label_map": _check_label_map,
    **dict.fromkeys(
        ("boundingbox", "localization", "localization_rcnn", "localization_ssd"), _check_boxes
    ),
}
