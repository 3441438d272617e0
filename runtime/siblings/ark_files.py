"""Archives of Kaldi in all forms: binary, text, and script files (.scp), which name objects."""

import os
import re
from typing import Any, Final

import numpy as np

from exset.codecs.siblings import ark
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.archive import Archive
from exset.grammars.siblings.findings import ARK
from exset.io import files
from exset.parsers.siblings import ark_text, kaldi_table

_BINARY: Final = re.compile(rb"\s*+[^\s\0]++[ \t]?+\0B")
_PLACE: Final = re.compile(r"(.+?)(?::([0-9]{1,18}))?(?:\[([0-9:,]*)\])?", re.DOTALL)
_RANGE: Final = re.compile(r"(?:([0-9]{1,9}):([0-9]{1,9}))?|:")


def parsed(source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Archive:
    """Return the objects of an archive, binary or text. Raises FormatError for a wrong archive."""
    if _BINARY.match(source.data) or b"\0" in source.data[:4096]:
        return ark.decode(source, limits=limits, findings=findings, engine=engine)
    return ark_text.parse(source, findings=findings, engine=engine)


def named(
    source: Source, folder: str, *, limits: Limits, findings: Findings, engine: Engine
) -> Archive:
    """Return the objects that the lines of a script file name.

    folder: the folder that must contain the archives, and from which relative paths are resolved.
    Raises FormatError without a folder, for a command, and for a place that has no object.
    """
    if not folder:
        raise FormatError.of(ARK.finding("ark-script", Place(source.name)))
    lines = kaldi_table.parse(source, is_words=True, findings=findings, engine=engine)
    archives, parts = dict[tuple[str, bool], dict[int, Any]](), list[Any]()
    for key, value in lines.items():
        text = value.decode("utf-8", "surrogateescape")
        place = Place(source.name, field=safe(key.decode("utf-8", "backslashreplace")))
        match = _PLACE.fullmatch(text)
        if match is None or "|" in (text[0], text[-1]) or text == "-":
            raise FormatError.of(ARK.finding("ark-command", place, text=safe(text)))
        path, offset, ranges = os.path.join(folder, match[1]), match[2], match[3]
        if (path, offset is None) not in archives:
            data = files.read(path, limits=limits, roots=(folder,)).data
            whole = Source(path, b"object " + data if offset is None else data)
            found = parsed(whole, limits=limits, findings=findings, engine=engine).objects()
            archives[path, offset is None] = found
        objects = archives[path, offset is None]
        at = next(iter(objects), 0) if offset is None else int(offset)
        if at not in objects:
            raise FormatError.of(ARK.finding("ark-offset", place, path=safe(match[1]), offset=at))
        parts.append(_part(objects[at], ranges or "", place))
    rows = np.array([len(part) if part.ndim > 1 else -1 for part in parts], np.int64)
    cols = np.array([part.shape[-1] for part in parts], np.int64)
    values = [part.reshape(-1) for part in parts] or [np.zeros(0, np.float32)]
    return Archive(Strings.of(lines), rows, cols, np.concatenate(values))


def _part(values: Any, ranges: str, place: Place) -> Any:
    """Return the part of a matrix or a vector in ranges such as `0:9,0:3`, whose ends count."""
    for axis, text in enumerate(ranges.split(",")):
        match = _RANGE.fullmatch(text)
        first, last = (int(each) for each in match.groups("-1")) if match else (1, 0)
        if axis >= values.ndim or last >= values.shape[axis] or first > last:
            given = {"ranges": ranges, "shape": values.shape}
            raise FormatError.of(ARK.finding("ark-range", place, **given))
        if first >= 0:
            values = values[(slice(None),) * axis + (slice(first, last + 1),)]
    return values
