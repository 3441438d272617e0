"""Script files of Kaldi (.scp): a key and the place of an object in an archive on each line."""

import os
import re
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.archive import Archive
from exset.io import beneath
from exset.io.blocks import size_of
from exset.parsers.siblings import kaldi_table
from exset.runtime.siblings.ark_files import parsed

SUFFIX: Final = ".scp"
_PLACE: Final = re.compile(r"(.+?)(?::([0-9]{1,18}))?(?:\[([0-9:,]*)\])?", re.DOTALL)
_RANGE: Final = re.compile(r"(?:([0-9]{1,9}):([0-9]{1,9}))?|:")


def read(
    source: Source, *, folder: str, limits: Limits, findings: Findings, engine: Engine
) -> Archive:
    """Return the objects that the lines of a file name.

    folder: the folder that must contain the archives, and from which relative paths are resolved.
    Raises FormatError without a folder, for a command, and for a place that has no object.
    """
    if not folder:
        hint = "to open them, name their folder: <--archives FOLDER or archives=FOLDER>"
        message = "the file has no objects itself: it only names archives"
        raise FormatError(message, place=Place(source.name), hint=hint, code="ark-script")
    lines = kaldi_table.parse(source, is_words=True, findings=findings, engine=engine)
    archives, parts = dict[tuple[str, bool], dict[int, Any]](), list[Any]()
    for key, value in lines.items():
        text = value.decode("utf-8", "surrogateescape")
        place = Place(source.name, field=safe(key.decode("utf-8", "backslashreplace")))
        if text.startswith("|") or text.endswith("|") or text == "-":
            hint = "write the objects to an archive, and name the archive"
            message = f"{safe(text)!r} is a command or a pipe: exset opens only files"
            raise FormatError(message, place=place, hint=hint, code="ark-script")
        match = _PLACE.fullmatch(text)
        assert match is not None
        path, offset, ranges = match.groups()
        name = os.path.join(folder, path), offset is None
        if name not in archives:
            archives[name] = _opened(*name, folder, limits, findings, engine).objects()
        objects = archives[name]
        at = next(iter(objects), 0) if offset is None else int(offset)
        if at not in objects:
            hint = "write the offset of the byte after the key and its blank"
            message = f"{safe(path)!r} has no object at the offset {at}"
            raise FormatError(message, place=place, hint=hint, code="ark-script")
        parts.append(_part(objects[at], ranges or "", place))
    rows = np.array([len(part) if part.ndim > 1 else -1 for part in parts], np.int64)
    cols = np.array([part.shape[-1] for part in parts], np.int64)
    values = [part.reshape(-1) for part in parts] or [np.zeros(0, np.float32)]
    return Archive(Strings.of(lines), rows, cols, np.concatenate(values))


def _opened(
    path: str, is_object: bool, folder: str, limits: Limits, findings: Findings, engine: Engine
) -> Archive:
    """Return the objects of an archive, or of a file of one object without a key."""
    with beneath.open_regular(path, (folder,)) as file:
        if (size_of(file) or 0) > limits.max_bytes:
            message = f"the archive has more than {limits.max_bytes:,} bytes"
            raise LimitError(message, place=Place(safe(path)), hint=limit_hint("max_bytes"))
        data = file.read()
    source = Source(path, b"object " + data if is_object else data)
    return parsed(source, limits=limits, findings=findings, engine=engine)


def _part(values: Any, ranges: str, place: Place) -> Any:
    """Return the part of a matrix or a vector in ranges such as `0:9,0:3`, whose ends count."""
    for axis, text in enumerate(ranges.split(",")):
        match = _RANGE.fullmatch(text)
        first, last = (int(each) for each in match.groups("-1")) if match else (1, 0)
        if match is None or axis >= values.ndim or last >= values.shape[axis] or first > last:
            message = f"the range [{ranges}] is not in an object of the shape {values.shape}"
            hint = "write the first and last row, or also the first and last column: [0:9,0:3]"
            raise FormatError(message, place=place, hint=hint, code="ark-script")
        if first >= 0:
            values = values[(slice(None),) * axis + (slice(first, last + 1),)]
    return values
