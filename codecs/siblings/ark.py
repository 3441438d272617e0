"""Read and write archives of Kaldi in binary form; their matrices may be compressed."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.codecs.engine import Fields, Layout, Values, read, write
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Floats, row_indices
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.archive import Archive
from exset.grammars.siblings.findings import ARK

LAYOUT: Final = Layout("exset.codecs.siblings.ark_layout:Archive")
WHOLE: Final = Layout("exset.codecs.siblings.ark_layout:Whole")
ENTRIES: Final = Layout("exset.codecs.siblings.ark_layout:Entries")
_END: Final = b"\0B\4\0\0\0\0"
"""An entry without a key."""
_BODY: Final = "entries.body"
_PLAIN: Final = f"{_BODY}.object"
_PATHS: Final = MappingProxyType(
    {
        **{kind.encode(): f"{_PLAIN}.values.{kind}" for kind in ("FM", "DM", "FV", "DV")},
        **{b"CM": f"{_BODY}.data.CM", b"CM2": f"{_BODY}.data.CM2", b"IV": f"{_BODY}.IV.value"},
    }
)
"""The numbers of each kind of objects; those of CM3 are with CM."""
_SIZES: Final = (
    ((b"FM", b"DM"), f"{_PLAIN}.rows", f"{_PLAIN}.cols"),
    ((b"CM", b"CM2"), f"{_BODY}.num_rows", f"{_BODY}.num_cols"),
    ((b"FV", b"DV"), f"{_PLAIN}.dim"),
    ((b"IV",), f"{_BODY}.length"),
)
_LETTERS: Final = MappingProxyType({"float32": b"F", "float64": b"D", "int32": b"I"})
_COUNT: Final = 8  # bytes of the number of entries, which the file does not begin with


def decode(source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Archive:
    """Return the objects of an archive. Raises FormatError for a damaged archive."""
    if engine != "reference":
        with suppress(FormatError):  # the error is raised below
            fields = read(WHOLE, source, limits=limits, engine=engine)
            if fields.end == len(source.view):
                keys = fields.strings("entries.key")
                return _archive(_names(keys, fields, source, findings), fields)
    data = source.data
    marked = Source(source.name, data + _END * 2)
    try:
        fields = read(LAYOUT, marked, limits=limits, engine=engine)
    except FormatError:  # without what was added, the error is at the right place
        fields = read(LAYOUT, source, limits=limits, engine=engine)
    count = len(fields.strings("entries.key")) - 1
    keys = fields.strings("entries.key").take(np.arange(count))
    if fields.end <= len(data):
        raise _wrong_key(fields.place(source, "entries.key", count))
    if fields.end != len(data) + len(_END):  # the last object began before the end of the data
        begin = int(fields.starts["entries.key"][count - 1])
        if begin + int(keys.lengths[-1]) != len(data):
            fields = read(LAYOUT, source, limits=limits, engine=engine)  # raises
        keys = keys.take(np.arange(count - 1))
        place = Place.in_bytes(source, begin)
        findings.add(ARK.finding("ark-kaldiio", place, what="bytes after the last object"))
    return _archive(_names(keys, fields, source, findings), fields)


def _names(keys: Strings, fields: Fields, source: Source, findings: Findings) -> Strings:
    """Return the keys of the objects, each without the blank that ends it in the file.

    Raises FormatError for an invalid key.
    """
    names, has_tab = list[bytes](), False
    for row, key in enumerate(keys):
        assert key is not None
        name = key.lstrip(b"\n")[:-1]
        if not name or key[-1:] not in b" \t" or len(name.split()) != 1 or name != name.strip():
            raise _wrong_key(fields.place(source, "entries.key", row))
        if key.endswith(b"\t") and not has_tab:
            has_tab = True
            place = fields.place(source, "entries.key", row)
            findings.add(ARK.finding("ark-kaldiio", place, what="a tab after a key"))
        names.append(name)
    return Strings.of(names)


def _wrong_key(place: Place) -> FormatError:
    return FormatError.of(ARK.finding("ark-key", place))


def _archive(keys: Strings, fields: Fields) -> Archive:
    """Return the objects in the order of the file."""
    columns: Mapping[str, Any] = fields.columns
    letters, kinds = columns["entries.letter"][: len(keys)], np.full(len(keys), b"IV", "S3")
    is_plain = np.isin(letters, (*b"FD",))
    letters_of_kinds = np.stack([letters[is_plain], columns[f"{_BODY}.kind"]], axis=1)
    kinds[is_plain] = letters_of_kinds.view("S2").ravel()
    is_word = columns[f"{_BODY}.format"] == ord("2")
    kinds[letters == ord("C")] = np.where(is_word, b"CM2", b"CM")
    sizes = np.full((len(keys), 2), -1, np.int64)
    for some, *names in _SIZES:
        mask = np.isin(kinds, some)
        for at, name in enumerate(reversed(names), 1):
            sizes[mask, -at] = columns[name][: np.count_nonzero(mask)]
    used = [kind for kind in _PATHS if (kinds == kind).any()]
    parts = [_values(kind, fields) for kind in used] or [np.zeros(0, np.float32)]
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    lengths = fields.strings("entries.key").lengths[: len(keys)]
    begins = fields.starts["entries.key"][: len(keys)] + lengths
    archive = Archive(keys, sizes[:, 0], sizes[:, 1], values, begins)
    if len(used) > 1:
        order = np.concatenate([np.flatnonzero(kinds == kind) for kind in used])
        begins, counts = np.zeros(len(keys), np.int64), archive.sizes
        begins[order] = np.cumsum(counts[order]) - counts[order]
        archive = replace(archive, values=values[row_indices(begins, counts)])
    return archive


def _values(kind: bytes, fields: Fields) -> Any:
    """Return the numbers of all objects of one kind, one object after another."""
    columns: Mapping[str, Any] = fields.columns
    stored = columns[_PATHS[kind]]
    if not kind.startswith(b"C"):
        return stored
    formats = columns[f"{_BODY}.format"]
    mine = (formats == ord("2")) == (kind == b"CM2")
    names = ("format", "min_value", "range", "num_cols")
    known = zip(*(columns[f"{_BODY}.{name}"][mine] for name in names), strict=True)
    found, at = np.empty(stored.size, np.float32), 0
    bounds = pairwise(fields.bounds[_PATHS[kind]].tolist())
    for (begin, end), (form, least, span, width) in zip(bounds, known, strict=True):
        some = stored[begin:end]
        if form == ord(" "):
            points = columns[f"{_BODY}.data.percentiles"][at : at + 4 * width].reshape(width, 4)
            at += 4 * int(width)
            levels = least + span * np.float32(1 / 65535) * points.astype(np.float32)
            found[begin:end] = _between(levels, some.reshape(width, -1)).T.reshape(-1)
        else:
            step = span * np.float32(1 / (65535 if kind == b"CM2" else 255))
            np.multiply(some, step, out=found[begin:end], dtype=np.float32)
            found[begin:end] += least
    return found


def _between(levels: Floats, codes: Any) -> Floats:
    """Decode a compressed matrix: return the numbers for its codes.

    levels: [columns, 4], four percentiles of each column, between which codes interpolate. codes:
    [columns, rows].
    """
    table = np.empty((len(levels), 256), np.float32)
    code = np.arange(256, dtype=np.float32)
    p0, p25, p75, p100 = (levels[:, i : i + 1] for i in range(4))
    table[:, :65] = p0 + (p25 - p0) * code[:65] * np.float32(1 / 64)
    table[:, 65:193] = p25 + (p75 - p25) * (code[65:193] - 64) * np.float32(1 / 128)
    table[:, 193:] = p75 + (p100 - p75) * (code[193:] - 192) * np.float32(1 / 63)
    found: Floats = np.take_along_axis(table, codes.astype(np.intp), axis=1)
    return found


def encode(archive: Archive, compress: str | None = None) -> bytes:
    """Return the bytes of an archive: matrices or vectors of reals, or vectors of int32.

    compress: "CM2" or "CM3", to store matrices with 16 or 8 bits for each number; then no matrix
    may be empty, and all numbers must be finite.
    """
    count, letter = len(archive.keys), _LETTERS[str(archive.values.dtype)]
    kind = letter + (b"V" if letter == b"I" or archive.is_of_vectors else b"M")
    first, some, sizes = letter[0], kind, (archive.rows, archive.cols)
    fields: dict[str, Values] = {
        path: np.zeros(0, leaf.native) for path, leaf in ENTRIES.leaves.items() if leaf.is_number
    }
    fields["count"] = np.array([count], np.uint64)
    fields["entries.key"] = Strings.of([(key or b"") + b" " for key in archive.keys])
    if compress is not None:
        first, some = ord("C"), b"CM"
        fields |= _compressed(archive, compress)
    else:
        fields[_PATHS[kind]] = archive.values
    if kind == b"IV":
        first = 4
    elif compress is None:
        fields[f"{_BODY}.kind"] = np.full(count, kind[1], np.uint8)
    [names] = [names for of, *names in _SIZES if some in of]
    for name, size in zip(reversed(names), reversed(sizes), strict=False):
        fields[name] = size.astype(np.int32)
    fields["entries.letter"] = np.full(count, first, np.uint8)
    return write(ENTRIES, fields)[_COUNT:]


def _compressed(archive: Archive, kind: str) -> dict[str, Values]:
    """Return the columns of the layout for compressed matrices, with 8 or 16 bits a number.

    kind: "CM2" or "CM3". Source: Kaldi, compressed-matrix.cc: FloatToUint16.
    """
    sizes, values = archive.sizes, archive.values.astype(np.float32)
    begins = np.cumsum(sizes) - sizes
    least, most = (each.reduceat(values, begins) for each in (np.minimum, np.maximum))
    span = most - least
    span[span == 0] = 1 + np.abs(least[span == 0])
    top, dtype = (65535, np.uint16) if kind == "CM2" else (255, np.uint8)
    parts = (values - np.repeat(least, sizes)) / np.repeat(span, sizes)
    return {
        f"{_BODY}.format": np.full(sizes.size, ord(kind[2]), np.uint8),
        f"{_BODY}.min_value": least,
        f"{_BODY}.range": span,
        _PATHS[b"CM2" if kind == "CM2" else b"CM"]: (
            np.clip(parts, 0, 1) * np.float32(top) + np.float64(0.499)
        ).astype(dtype),
    }
