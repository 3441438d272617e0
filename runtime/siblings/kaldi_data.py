"""Data directories of Kaldi as tables with a row for each utterance."""

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.findings import KALDI
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.tables.build import column_of
from exset.grammars.tables.cells import Room
from exset.grammars.tables.column_types import absent
from exset.grammars.tables.columns import TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.io.compression import MAGIC, content_of
from exset.io.folders import Folder, NewFolder
from exset.parsers.engine.numbers import float64
from exset.parsers.siblings.decimals import decimals
from exset.parsers.siblings.kaldi_table import parse

_NUMBERS: Final = frozenset(("begin", "end", "duration", "frames"))


def _number(raw: bytes) -> float | int | None:
    """Parse a number of seconds or of frames; return None if `raw` is not a number."""
    if raw.isdigit() and len(raw) < 16:
        return int(raw)
    try:
        value = float64(raw)
    except ValueError:
        return None
    return value if isfinite(value) else None


class _File(NamedTuple):
    """A file of a directory.

    columns: the columns of its values, separated by spaces. what: what a value is, for messages;
    "" if it is a text with spaces. pattern: has a group for each column.
    """

    columns: tuple[str, ...]
    what: str = ""
    pattern: bytes = rb"(\S+)"

    def cells(self, raw: bytes) -> tuple[Any, ...] | None:
        """Return the cells of a value; None for an invalid value."""
        if not self.what:
            return (raw,)
        match = re.fullmatch(self.pattern, raw)
        pairs = zip(self.columns, match.groups() if match else (), strict=False)
        cells: list[Any] = [_number(text) if name in _NUMBERS else text for name, text in pairs]
        if not cells or None in cells or (len(cells) == 3 and not 0 <= cells[1] < cells[2]):
            return None
        return tuple(cells)


_FILES: Final = MappingProxyType(
    {
        "utt2spk": _File(("speaker",), "one speaker"),
        "text": _File(("text",)),
        "feats.scp": _File(("features",)),
        "segments": _File(
            ("recording", "begin", "end"),
            "a recording with a begin time and a later end time",
            rb"(\S+) (\S+) (\S+)",
        ),
        "wav.scp": _File(("audio",)),
        "utt2dur": _File(("duration",), "a number"),
        "utt2num_frames": _File(("frames",), "a number"),
        "spk2gender": _File(("gender",), "m or f", rb"([mf])"),
    }
)
_LISTS: Final = "spk2utt"


def read(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a data directory, with a row for each utterance.

    The columns are `name` and one or more for each file: `speaker`, `text`, `audio` (the path, or
    the command, of the sound; exset runs no command), `recording`, `begin` and `end` of a segment
    in seconds, `duration`, `frames`, `gender` and `features`. Raises FormatError for a folder that
    is not a data directory.
    """
    findings = Findings() if findings is None else findings
    files: dict[str, dict[bytes, bytes]] = {}
    for name in (*_FILES, _LISTS):
        if name in folder.names:
            is_words = name != _LISTS and not _FILES[name].what
            source = folder.read(name)
            files[name] = parse(source, is_words=is_words, findings=findings, engine=engine)
    first = next((each for each in ("utt2spk", "segments", "text", "wav.scp") if each in files), "")
    if not first:
        raise FormatError.of(KALDI.finding("kaldi-folder", Place(folder.name)))
    lists, keys = files.pop(_LISTS, None), [*files[first]]
    cells = {
        name: {key: _FILES[name].cells(raw) for key, raw in lines.items()}
        for name, lines in files.items()
    }
    for code, name, key, what in _problems(files, cells, lists):
        shown = safe(key.decode("utf-8", "backslashreplace"))
        findings.add(KALDI.finding(code, Place(folder.path_of(name)), key=shown, what=what))
    speakers = [files.get("utt2spk", {}).get(key, key) for key in keys]
    owners, room = {"spk2gender": speakers}, Room(folder.name, folder.size, limits)
    columns: dict[str, TableColumn] = {"name": text_or_bytes(Strings.of(keys))}
    for name, found in cells.items():
        rows = [found.get(key) for key in owners.get(name, keys)]
        lengths = [len(files[name].get(key, b"")) for key in owners.get(name, keys)]
        room.take(1, 1, sum(lengths))  # segments may share a long value
        for at, column in enumerate(_FILES[name].columns):
            columns[column] = _column(column, [row and row[at] for row in rows])
        if name == "segments":
            owners["wav.scp"] = [row[0] if row else b"" for row in rows]
    return Table(columns, len(keys), {})


def _column(name: str, values: list[Any]) -> TableColumn:
    if name not in _NUMBERS:
        return text_or_bytes(Strings.of(values))
    if any(value is not None for value in values):
        return column_of(name, values)
    return absent("float64", len(values))


def _by_speaker(speakers: Mapping[bytes, bytes]) -> dict[bytes, list[bytes]]:
    """Return the utterances of each speaker. speakers: the speaker of each utterance."""
    inverse: dict[bytes, list[bytes]] = {}
    for key, speaker in speakers.items():
        inverse.setdefault(speaker, []).append(key)
    return inverse


def _problems(
    files: Mapping[str, Mapping[bytes, bytes]],
    cells: Mapping[str, Mapping[bytes, tuple[Any, ...] | None]],
    lists: Mapping[bytes, bytes] | None,
) -> Iterator[tuple[str, str, bytes, str]]:
    """Yield the invalid values, and the ways in which the files contradict each other.

    Each has the code of the finding, the name of the file, the key, and what is wrong. files,
    cells: the values of each file by key, and their cells. lists: the values of spk2utt.
    """
    for name, found in cells.items():
        for key in [key for key, some in found.items() if some is None]:
            yield "kaldi-value", name, key, _FILES[name].what
    segments = cells.get("segments", {})
    others = ("spk2gender", "wav.scp" if segments else "")
    there = [name for name in files if name not in others]
    for name in there[1:]:
        for key in sorted(files[name].keys() ^ files[there[0]].keys())[:1]:
            yield "kaldi-utterances", name, key, there[0]
    recordings = {each[0] for each in segments.values() if each}
    for key in sorted(recordings - files["wav.scp"].keys())[:1] if "wav.scp" in files else []:
        yield "kaldi-utterances", "wav.scp", key, "segments"
    if "utt2spk" not in files:
        yield "kaldi-speakers", "utt2spk", b"utt2spk", "missing: Kaldi needs the speakers"
        return
    speakers = files["utt2spk"]
    in_order = sorted(speakers, key=lambda key: (speakers[key], key))
    for key in [key for key, other in zip(speakers, in_order, strict=True) if key != other][:1]:
        yield "kaldi-speakers", "utt2spk", key, "out of place: the file must be sorted by speaker"
    inverse = _by_speaker(speakers)
    listed = inverse if lists is None else {key: raw.split() for key, raw in lists.items()}
    wrong = [key for key in {**inverse, **listed} if inverse.get(key) != listed.get(key)]
    for key in wrong[:1]:
        what = "listed with other utterances than in utt2spk"
        yield "kaldi-speakers", _LISTS, key, what


def write(
    models: Iterable[Table], folder: NewFolder, /, *, findings: Findings, lossy: bool = False
) -> None:
    """Write a folder of the rows of a table, sorted by `name`; see `read` for the columns.

    An utterance without a `speaker` gets its own name as the speaker. Raises FormatError for an
    utterance without a unique name, and for columns that such a folder cannot hold.
    """
    table = Table.concat([*models])
    patterns = Patterns.of(table, "a data directory", findings, lossy)
    if not isinstance(table.columns.get("name"), Strings):
        patterns.refuse("name", "a data directory needs a column `name`: the names of utterances")
    keys, seen = [name or b"" for name in patterns.texts("name")], dict[bytes, int]()
    for row, key in enumerate(keys):
        if key.split() != [key] or seen.setdefault(key, row) != row:
            patterns.refuse("name", "each utterance needs a different name, without spaces", row)
    owners, files = dict[str, list[bytes]](), dict[str, dict[bytes, bytes]]()
    for name, file in _FILES.items():
        mine = owners.get(name, keys)
        files[name] = _lines(file, mine, patterns)
        if name == "utt2spk":
            files[name] = {key: files[name].get(key, key) for key in keys}
            owners["spk2gender"] = [*files[name].values()]
        elif name == "segments":
            owners["wav.scp"] = [files[name].get(key, key).split()[0] for key in keys]
    by_speaker = _by_speaker(dict(sorted(files["utt2spk"].items())))
    files[_LISTS] = {speaker: b" ".join(some) for speaker, some in by_speaker.items()}
    patterns.drop_others()
    for name, lines in files.items():
        if lines or name == "utt2spk":  # so that a folder without utterances is one, too
            data = b"".join(b"%b %b\n" % each for each in sorted(lines.items()))
            if content_of(data[:MAGIC]):
                problem = (
                    f"the file {name} would begin like a compressed file: rename its first key"
                )
                patterns.refuse("name", problem)
            folder.write(name, data)


def _lines(file: _File, keys: list[bytes], patterns: Patterns) -> dict[bytes, bytes]:
    """Return the values of a file by key. keys: the key for each row of the table."""
    found, columns = dict[bytes, bytes](), list[list[bytes | None]]()
    for name in file.columns:
        columns.append(patterns.texts(name) or [None] * len(keys))
        if (column := patterns.numbers(name, "iuf")) is not None:
            texts = zip(decimals(column.values), column.present.tolist(), strict=True)
            columns[-1] = [text if is_there else None for text, is_there in texts]
    for row, (key, *cells) in enumerate(zip(keys, *columns, strict=True)):
        given = [cell for cell in cells if cell is not None]
        line = b" ".join(given)
        is_valid = line == line.strip() != b"" and b"\n" not in line and file.cells(line)
        if is_valid and found.setdefault(key, line) == line:
            continue
        if given:
            what = file.what or "text without line breaks"
            problem = f"Kaldi needs {what} here, and the same for each row with the key"
            patterns.losses.report(file.columns[0], problem, row)
    return found
