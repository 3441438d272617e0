"""Write manifests as text, which aeon reads back as the same manifest."""

from typing import Final

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.text import counted
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import LINE_END, Dialect, ElementType

_MODEL: Final = "manifest"


def render(
    manifest: Manifest,
    *,
    findings: Findings | None = None,
    dialect: Dialect | str | None = None,
    lossy: bool = False,
) -> bytes:
    """Return the text of a manifest, by default in the manifest's own dialect.

    Raises FormatError for records that the dialect cannot store:

    - a field that contains a line break or a separator
    - a record that would be read as a comment, a header or an empty line
    - fields without a type
    - in `csv`, elements of types other than FILE

    `lossy` drops fields without a type and, in `csv`, the names of the types. Each loss adds a
    finding. Raises ValueError for an unknown dialect.
    """
    chosen = manifest.dialect if dialect is None else Dialect(dialect)

    def report_loss(field: str, why: str, what: str) -> None:
        place = Place(_MODEL, field=field)
        if not lossy:
            advice = f"<--lossy or lossy=True> writes the manifest without {what}"
            raise FormatError(why, place=place, hint=advice, code="aeon-text")
        if findings is not None:
            loss = Finding(
                "aeon-text-loss", Severity.WARNING, f"{why}: exset does not write {what}", place
            )
            findings.add(loss)

    if manifest.width > len(manifest.types) and chosen is not Dialect.SEED:
        report_loss(
            "fields",
            f"the header has {counted(len(manifest.types), 'type')} for"
            f" {counted(manifest.width, 'field')}",
            "the last fields",
        )
        manifest = manifest.narrowed()
    header = b""
    if chosen is not Dialect.CSV:
        types = b"\t".join(kind.encode("ascii") for kind in manifest.types)
        header = b"@" + types + LINE_END if types else b""
    elif any(kind is not ElementType.FILE for kind in manifest.types):
        report_loss("types", "the dialect csv has only the type FILE", "the types")
    _check_fields(manifest, chosen)
    return header + _records(manifest, chosen.separator)


def _check_fields(manifest: Manifest, dialect: Dialect) -> None:
    """Raise FormatError for the first field that the dialect cannot store."""
    data, offsets = manifest.fields.data, manifest.fields.offsets
    for byte, name in (
        (LINE_END, "a line break"),
        (dialect.separator, "a comma" if dialect is Dialect.CSV else "a tab"),
    ):
        found = data == byte[0]
        if found.any():
            at = int(found.argmax())
            field = int(np.searchsorted(offsets, at, "right")) - 1
            raise _rejection(
                manifest, field, f"{name} in a field (byte {at - int(offsets[field])})"
            )
    width = manifest.width
    if not len(manifest):
        return
    first = offsets[: len(manifest) * width : width]
    ends = offsets[1 : len(manifest) * width + 1 : width]
    empty = first == ends
    if width == 1 and empty.any():
        raise _rejection(manifest, int(empty.argmax()), "a record of one empty field")
    filled = np.flatnonzero(~empty)
    bad = np.isin(data[first[filled]], list(dialect.comments))
    if bad.any():
        record = int(filled[bad.argmax()])
        mark = chr(data[first[record]])
        raise _rejection(manifest, record * width, f"a record that starts with `{mark}`")


def _rejection(manifest: Manifest, field: int, what: str) -> FormatError:
    record, column = divmod(field, manifest.width)
    hint = "manifests have no quotes and no escapes: rename the file, or encode the field as BINARY"
    place = Place(_MODEL, field=f"[{record}][{column}]")
    return FormatError(f"a manifest cannot store {what}", place=place, hint=hint, code="aeon-text")


def _records(manifest: Manifest, separator: bytes) -> bytes:
    fields = len(manifest.fields)
    if not fields:
        return b""
    text = np.empty(manifest.fields.data.size + fields, np.uint8)
    is_field = np.ones(text.size, np.bool_)
    ends = manifest.fields.offsets[1:] + np.arange(fields)
    text[ends] = separator[0]
    text[ends[manifest.width - 1 :: manifest.width]] = LINE_END[0]
    is_field[ends] = False
    text[is_field] = manifest.fields.data
    return text.tobytes()
