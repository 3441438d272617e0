"""Data directories of Kaldi as tables with a row for each utterance."""

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.findings import KALDI
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.tables.cells import Room
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.io.compression import MAGIC, content_of
from exset.io.folders import Folder, NewFolder
from exset.parsers.engine.numbers import float64
from exset.parsers.siblings.decimals import decimals
from exset.parsers.siblings.kaldi_table import parse

_SEGMENT: Final = ("recording", "begin", "end")


def _number(raw: bytes) -> float | int | None:
    """Parse a number of seconds or of frames; return None if `raw` is not a number."""
    if raw.isdigit() and len(raw) < 16:
        return int(raw)
    try:
        value = float64(raw)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _segment(raw: bytes) -> tuple[bytes, float, float] | None:
    """Parse a segment: return its recording, its begin and its end; None if `raw` is invalid."""
    fields = raw.split()
    begin, end = (_number(field) for field in fields[1:]) if len(fields) == 3 else (None, None)
    if begin is None or end is None or not 0 <= begin < end:
        return None
    return fields[0], float(begin), float(end)


class _File(NamedTuple):
    """A file of a directory.

    column: the column of its values. is_words: whether they are texts with spaces. parse: returns
    None for a value that is not `what`.
    """

    column: str = ""
    is_words: bool = False
    parse: Callable[[bytes], object] = bytes
    what: str = ""


_FILES: Final = MappingProxyType(
    {
        "utt2spk": _File(
            "speaker", False, lambda raw: raw if raw.split() == [raw] else None, "one speaker"
        ),
        "text": _File("text", True),
        "feats.scp": _File("features", True),
        "segments": _File(
            "", False, _segment, "a recording with a begin time and a later end time"
        ),
        "wav.scp": _File("audio", True),
        "utt2dur": _File("duration", False, _number, "a number"),
        "utt2num_frames": _File("frames", False, _number, "a number"),
        "spk2gender": _File("gender", False, {b"m": b"m", b"f": b"f"}.get, "m or f"),
        "spk2utt": _File(),
    }
)


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
    for name, file in _FILES.items():
        if name in folder.names:
            source = folder.read(name)
            files[name] = parse(source, is_words=file.is_words, findings=findings, engine=engine)
    first = next((each for each in ("utt2spk", "segments", "text", "wav.scp") if each in files), "")
    if not first:
        raise FormatError.of(KALDI.finding("kaldi-folder", Place(folder.name)))
    _check(files, folder, findings)
    keys = records = [*files[first]]
    room = Room(folder.name, folder.size, limits)
    columns: dict[str, TableColumn] = {"name": text_or_bytes(Strings.of(keys))}
    speakers = [files.get("utt2spk", {}).get(key, key) for key in keys]
    for name, values in files.items():
        owners = {"wav.scp": records, "spk2gender": speakers}.get(name, keys)
        raws, column = [values.get(key) for key in owners], _FILES[name].column
        room.take(1, 1, sum(len(raw or b"") for raw in raws))  # segments may share a long one
        if name == "segments":
            found = [_segment(raw or b"") for raw in raws]
            records = [each[0] if each else b"" for each in found]
            columns["recording"] = _strings([each and each[0] for each in found])
            columns["begin"] = _numbers([each and each[1] for each in found])
            columns["end"] = _numbers([each and each[2] for each in found])
        elif _FILES[name].parse is _number:
            columns[column] = _numbers([_number(raw or b"") for raw in raws])
        elif column:
            columns[column] = _strings(raws)
    return Table(columns, len(keys), {})


def _strings(values: "list[bytes | None]") -> Strings:
    return text_or_bytes(Strings.of(values))


def _numbers(values: "list[Any]") -> Numbers:
    present = np.array([value is not None for value in values], np.bool_)
    reals = np.array([0.0 if value is None else value for value in values], np.float64)
    is_whole = bool(values) and all(isinstance(value, int | None) for value in values)
    return Numbers.of(reals.astype(np.int64) if is_whole else reals, present)


def _by_speaker(speakers: dict[bytes, bytes]) -> dict[bytes, list[bytes]]:
    """Return the utterances of each speaker. speakers: the speaker of each utterance."""
    inverse: dict[bytes, list[bytes]] = {}
    for key, speaker in speakers.items():
        inverse.setdefault(speaker, []).append(key)
    return inverse


def _check(files: dict[str, dict[bytes, bytes]], folder: Folder, findings: Findings) -> None:
    """Add a finding for each way in which the files of a folder contradict each other.

    files: the values of each file, by key.
    """

    def report(code: str, name: str, key: bytes, what: str) -> None:
        shown = safe(key.decode("utf-8", "backslashreplace"))
        findings.add(KALDI.finding(code, Place(folder.path_of(name)), key=shown, what=what))

    for name, values in files.items():
        for key in [key for key, raw in values.items() if _FILES[name].parse(raw) is None]:
            report("kaldi-value", name, key, _FILES[name].what)
    segments = [_segment(raw) for raw in files.get("segments", {}).values()]
    sounds = "segments" if segments else "wav.scp"
    same = ("utt2spk", "text", "feats.scp", sounds, "utt2dur", "utt2num_frames")
    there = [name for name in same if name in files]
    for name in there[1:]:
        for key in sorted(files[name].keys() ^ files[there[0]].keys())[:1]:
            report("kaldi-utterances", name, key, there[0])
    recordings = {each[0] for each in segments if each}
    for key in sorted(recordings - files["wav.scp"].keys())[:1] if "wav.scp" in files else []:
        report("kaldi-utterances", "wav.scp", key, "segments")
    if "utt2spk" not in files:
        report("kaldi-speakers", "utt2spk", b"utt2spk", "missing: Kaldi needs the speakers")
        return
    speakers = files["utt2spk"]
    in_order = sorted(speakers, key=lambda key: (speakers[key], key))
    for key in [key for key, other in zip(speakers, in_order, strict=True) if key != other][:1]:
        what = "out of place: the file must be sorted by speaker"
        report("kaldi-speakers", "utt2spk", key, what)
    if "spk2utt" in files:
        inverse = _by_speaker(speakers)
        listed = {key: raw.split() for key, raw in files["spk2utt"].items()}
        wrong = [key for key in {**inverse, **listed} if inverse.get(key) != listed.get(key)]
        for key in wrong[:1]:
            report("kaldi-speakers", "spk2utt", key, "listed with other utterances than in utt2spk")


def write(
    models: Iterable[Table], folder: NewFolder, /, *, findings: Findings, lossy: bool = False
) -> None:
    """Write a folder of the rows of a table, sorted by `name`; see `read` for the columns.

    An utterance without a `speaker` gets its own name as the speaker. Raises FormatError for an
    utterance without a unique name, and for columns that such a folder cannot hold.
    """
    table = Table.concat([*models])
    patterns = Patterns.of(table, "a data directory", findings, lossy)
    names = table.columns.get("name")
    if not isinstance(names, Strings):
        patterns.refuse("name", "a data directory needs a column `name`: the names of utterances")
    keys, seen = [name or b"" for name in patterns.texts("name")], dict[bytes, int]()
    for row, key in enumerate(keys):
        if key.split() != [key] or seen.setdefault(key, row) != row:
            patterns.refuse("name", "each utterance needs a different name, without spaces", row)

    def values(column: str, owners: list[bytes] = keys) -> dict[bytes, bytes]:
        cells = zip(owners, _cells(patterns, column), strict=False)
        return {key: raw for key, raw in cells if raw is not None}

    files = {
        name: values(_FILES[name].column)
        for name in ("utt2spk", "text", "feats.scp", "utt2dur", "utt2num_frames")
    }
    speakers = files["utt2spk"] = {key: files["utt2spk"].get(key, key) for key in keys}
    files["spk2gender"] = values("gender", [*speakers.values()])
    parts = [values(name) for name in _SEGMENT]
    there = [key for key in keys if all(key in part for part in parts)]
    files["segments"] = {key: b" ".join(part[key] for part in parts) for key in there}
    files["wav.scp"] = values("audio", [parts[0].get(key, key) for key in keys])
    by_speaker = _by_speaker({key: speakers[key] for key in sorted(keys)})
    files["spk2utt"] = {speaker: b" ".join(some) for speaker, some in by_speaker.items()}
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


def _cells(patterns: Patterns, name: str) -> list[bytes | None]:
    """Return the values of a column as text, and count it as stored; [] without the column."""
    texts = patterns.texts(name)
    if (column := patterns.numbers(name, "iuf")) is not None:
        numbers = zip(decimals(column.values), column.present.tolist(), strict=True)
        texts = [text if is_there else None for text, is_there in numbers]
    for row, text in enumerate(texts):
        if text is not None and (not text.strip() or text != text.strip() or b"\n" in text):
            problem = "a table of Kaldi has no empty values and no line breaks"
            patterns.losses.report(name, problem, row)
            texts[row] = None
    return texts
