"""Read and write archives of Kaldi in binary form; their matrices may be compressed."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.codecs.engine import Fields, Layout, Values, read, write
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Floats, Longs, row_indices
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
        **{kind: f"{_PLAIN}.values.{kind}" for kind in ("FM", "DM", "FV", "DV")},
        **{"CM": f"{_BODY}.data.CM", "CM2": f"{_BODY}.data.CM2", "IV": f"{_BODY}.IV"},
    }
)
"""The arrays of numbers."""
_KINDS: Final = MappingProxyType({"float32": "F", "float64": "D", "int32": "I"})
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
    message = "the key does not end with one space before the object"
    hint = "write the key, one space, and the bytes NUL and B before each object"
    return FormatError(message, place=place, hint=hint, code="ark-key")


def _archive(keys: Strings, fields: Fields) -> Archive:
    """Return the objects in the order of the file."""
    columns: Mapping[str, Any] = fields.columns
    letters, is_matrix = columns["entries.letter"][: len(keys)], np.zeros(len(keys), np.bool_)
    is_plain, is_compressed = np.isin(letters, (*b"FD",)), letters == ord("C")
    is_matrix[is_plain] = columns[f"{_BODY}.kind"] == ord("M")
    is_vector, is_integer = is_plain & ~is_matrix, ~is_plain & ~is_compressed
    is_word, is_float = is_compressed.copy(), letters == ord("F")
    is_word[is_compressed] = columns[f"{_BODY}.format"] == ord("2")
    sizes = np.full((len(keys), 2), -1, np.int64)
    for mask, *names in (
        (is_matrix, f"{_PLAIN}.rows", f"{_PLAIN}.cols"),
        (is_compressed, f"{_BODY}.num_rows", f"{_BODY}.num_cols"),
        (is_vector, f"{_PLAIN}.dim"),
        (is_integer, f"{_BODY}.length"),
    ):
        for at, name in enumerate(reversed(names), 1):
            sizes[mask, -at] = columns[name][: np.count_nonzero(mask)]
    kinds = {
        **{"FM": is_matrix & is_float, "DM": is_matrix & ~is_float, "FV": is_vector & is_float},
        **{"DV": is_vector & ~is_float, "CM": is_compressed & ~is_word, "CM2": is_word},
        "IV": is_integer,
    }
    used = {kind: mask for kind, mask in kinds.items() if mask.any()}
    parts = [_values(kind, fields) for kind in used] or [np.zeros(0, np.float32)]
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    lengths = fields.strings("entries.key").lengths[: len(keys)]
    begins = fields.starts["entries.key"][: len(keys)] + lengths
    archive = Archive(keys, sizes[:, 0], sizes[:, 1], values, begins)
    if len(used) > 1:
        order = np.concatenate([np.flatnonzero(mask) for mask in used.values()])
        begins, counts = np.zeros(len(keys), np.int64), archive.sizes
        begins[order] = np.cumsum(counts[order]) - counts[order]
        archive = replace(archive, values=values[row_indices(begins, counts)])
    return archive


def _values(kind: str, fields: Fields) -> Any:
    """Return the numbers of all objects of one kind, one object after another."""
    if kind == "IV":
        return fields.columns[f"{_PATHS[kind]}.value"]
    stored: Any = fields.columns[_PATHS[kind]]
    if not kind.startswith("C"):
        return stored
    is_words = fields.columns[f"{_BODY}.format"] == ord("2")
    mine = is_words if kind == "CM2" else ~np.asarray(is_words)
    least, span = (fields.reals(f"{_BODY}.{name}")[mine] for name in ("min_value", "range"))
    bounds, formats = (
        fields.bounds[_PATHS[kind]],
        np.asarray(fields.columns[f"{_BODY}.format"])[mine],
    )
    columns = fields.ints(f"{_BODY}.num_cols")[mine]
    found, at = np.empty(stored.size, np.float32), 0
    for number, (begin, end) in enumerate(
        zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ):
        some, width = stored[begin:end], int(columns[number])
        if kind == "CM" and formats[number] == ord(" "):
            points: Any = fields.columns[f"{_BODY}.data.percentiles"]
            four = points[at : at + 4 * width].reshape(width, 4)
            at += 4 * width
            levels = least[number] + span[number] * np.float32(1 / 65535) * four.astype(np.float32)
            found[begin:end] = _between(levels, some.reshape(width, -1)).T.reshape(-1)
        else:
            step = span[number] * np.float32(1 / (65535 if kind == "CM2" else 255))
            np.multiply(some, step, out=found[begin:end], dtype=np.float32)
            found[begin:end] += least[number]
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
    count, letter = len(archive.keys), _KINDS[str(archive.values.dtype)]
    kind = letter + ("V" if archive.is_of_vectors else "M")
    fields: dict[str, Values] = {
        path: np.zeros(0, leaf.native) for path, leaf in ENTRIES.leaves.items() if leaf.is_number
    }
    fields["count"] = np.array([count], np.uint64)
    fields["entries.key"] = Strings.of([(key or b"") + b" " for key in archive.keys])
    sizes: dict[str, Longs] = {f"{_BODY}.length": archive.cols}
    path, first = f"{_PATHS['IV']}.value", 4 if kind == "IV" else ord(letter)
    if compress is not None:
        first, sizes = ord("C"), {f"{_BODY}.num_rows": archive.rows}
        sizes[f"{_BODY}.num_cols"] = archive.cols
        fields |= _compressed(archive, compress)
    elif kind != "IV":
        fields[f"{_BODY}.kind"] = np.full(count, ord(kind[1]), np.uint8)
        sizes, path = {f"{_PLAIN}.dim": archive.cols}, _PATHS[kind]
        if kind[1] == "M":
            sizes = {f"{_PLAIN}.rows": archive.rows, f"{_PLAIN}.cols": archive.cols}
    if compress is None:
        fields[path] = archive.values
    fields["entries.letter"] = np.full(count, first, np.uint8)
    fields |= {name: size.astype(np.int32) for name, size in sizes.items()}
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
    top, dtype, path = (
        (65535, np.uint16, _PATHS["CM2"]) if kind == "CM2" else (255, np.uint8, _PATHS["CM"])
    )
    parts = (values - np.repeat(least, sizes)) / np.repeat(span, sizes)
    return {
        f"{_BODY}.format": np.full(sizes.size, ord(kind[2]), np.uint8),
        f"{_BODY}.min_value": least,
        f"{_BODY}.range": span,
        path: (np.clip(parts, 0, 1) * np.float32(top) + np.float64(0.499)).astype(dtype),
    }
