"""Data directories of Kaldi as tables with a row for each utterance."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.findings import KALDI
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.io.compression import MAGIC, content_of
from exset.io.folders import Folder, NewFolder
from exset.parsers.engine.numbers import float64
from exset.parsers.siblings.decimals import decimals
from exset.parsers.siblings.kaldi_table import parse

_TEXTS: Final = MappingProxyType({"utt2spk": "speaker", "text": "text", "feats.scp": "features"})
_NUMBERS: Final = MappingProxyType({"utt2dur": "duration", "utt2num_frames": "frames"})
_OTHERS: Final = ("wav.scp", "segments", "spk2utt", "spk2gender")
_SEGMENT: Final = ("recording", "begin", "end")
AUDIO: Final = "audio"


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
    for name in (*_TEXTS, *_NUMBERS, *_OTHERS):
        if name in folder.names:
            is_words = name in ("text", "wav.scp", "feats.scp")
            source = folder.read(name)
            files[name] = parse(source, is_words=is_words, findings=findings, engine=engine)
    first = next((each for each in ("utt2spk", "segments", "text", "wav.scp") if each in files), "")
    if not first:
        message, place = "the folder has no utt2spk, segments, text or wav.scp", Place(folder.name)
        raise FormatError(message, place=place, hint="name a data directory", code="kaldi-folder")
    _check(files, folder, findings)
    keys = [*files[first]]
    columns: dict[str, TableColumn] = {"name": text_or_bytes(Strings.of(keys))}
    for name, column in _TEXTS.items():
        if name in files:
            columns[column] = _strings([files[name].get(key) for key in keys])
    records = keys
    if "segments" in files:
        found = [_segment(files["segments"].get(key, b"")) for key in keys]
        records = [each[0] if each else b"" for each in found]
        columns["recording"] = _strings([each and each[0] for each in found])
        for at, name in enumerate(_SEGMENT[1:], 1):
            columns[name] = _numbers([each and each[at] for each in found])
    if "wav.scp" in files:
        columns[AUDIO] = _strings([files["wav.scp"].get(key) for key in records])
    for name, column in _NUMBERS.items():
        if name in files:
            columns[column] = _numbers([_number(files[name].get(key, b"")) for key in keys])
    if "spk2gender" in files:
        speakers = files.get("utt2spk", {})
        gender = [files["spk2gender"].get(speakers.get(key, key)) for key in keys]
        columns["gender"] = _strings(gender)
    return Table(columns, len(keys), {})


def _strings(values: "list[bytes | None]") -> Strings:
    return text_or_bytes(Strings.of(values))


def _numbers(values: "list[Any]") -> Numbers:
    present = np.array([value is not None for value in values], np.bool_)
    reals = np.array([0.0 if value is None else value for value in values], np.float64)
    is_whole = bool(values) and all(isinstance(value, int) for value in values if value is not None)
    return Numbers.of(reals.astype(np.int64) if is_whole else reals, present)


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
    numbers = [_number(field) for field in fields[1:]]
    if len(fields) != 3 or numbers[0] is None or numbers[1] is None:
        return None
    begin, end = float(numbers[0]), float(numbers[1])
    return (fields[0], begin, end) if 0 <= begin < end else None


def _check(files: dict[str, dict[bytes, bytes]], folder: Folder, findings: Findings) -> None:
    """Add a finding for each way in which the files of a folder contradict each other.

    files: the values of each file, by key.
    """

    def report(code: str, name: str, key: bytes, what: str) -> None:
        shown = safe(key.decode("utf-8", "backslashreplace"))
        findings.add(KALDI.finding(code, Place(folder.path_of(name)), key=shown, what=what))

    speakers = files.get("utt2spk", {})
    segments = {key: _segment(raw) for key, raw in files.get("segments", {}).items()}
    for key in [key for key, segment in segments.items() if segment is None]:
        report("kaldi-value", "segments", key, "a recording with a begin time and a later end time")
    for name in [*_NUMBERS]:
        for key, raw in files.get(name, {}).items():
            if _number(raw) is None:
                report("kaldi-value", name, key, "a number")
    for key, raw in speakers.items():
        if len(raw.split()) != 1:
            report("kaldi-value", "utt2spk", key, "one speaker")
    for key, raw in files.get("spk2gender", {}).items():
        if raw not in (b"m", b"f"):
            report("kaldi-value", "spk2gender", key, "m or f")
    same = ["utt2spk", "text", "feats.scp", *(["segments"] if segments else ["wav.scp"]), *_NUMBERS]
    there = [name for name in same if name in files]
    for name in there[1:]:
        for key in sorted(files[name].keys() ^ files[there[0]].keys())[:1]:
            report("kaldi-utterances", name, key, there[0])
    recordings = {each[0] for each in segments.values() if each}
    for key in sorted(recordings - files["wav.scp"].keys())[:1] if "wav.scp" in files else []:
        report("kaldi-utterances", "wav.scp", key, "segments")
    if "utt2spk" not in files:
        report("kaldi-speakers", "utt2spk", b"utt2spk", "missing: Kaldi needs the speakers")
    if "utt2spk" in files:
        pairs = sorted(speakers.items(), key=lambda pair: (pair[1], pair[0]))
        for (key, _), other in zip(speakers.items(), pairs, strict=True):
            if key != other[0]:
                report(
                    "kaldi-speakers",
                    "utt2spk",
                    key,
                    "out of place: the file must be sorted by speaker",
                )
                break
    if "spk2utt" in files and "utt2spk" in files:
        inverse: dict[bytes, list[bytes]] = {}
        for key, speaker in speakers.items():
            inverse.setdefault(speaker, []).append(key)
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
    losses = patterns.losses
    names = table.columns.get("name")
    if not isinstance(names, Strings):
        patterns.refuse("name", "a data directory needs a column `name`: the names of utterances")
    keys = [name or b"" for name in Strings.unchecked(**vars(names))]
    seen = set[bytes]()
    for row, key in enumerate(keys):
        seen.add(key)
        if len(key.split()) != 1 or key != key.strip() or len(seen) <= row:
            patterns.refuse("name", "each utterance needs a different name, without spaces", row)
    files: dict[str, dict[bytes, bytes]] = {}
    kept = ["name"]

    def cells(column: str) -> dict[bytes, bytes]:
        found = table.columns.get(column)
        if isinstance(found, Strings):
            texts: list[bytes | None] = [*Strings.unchecked(**vars(found))]
        elif isinstance(found, Numbers) and not found.shape and found.values.dtype.kind in "iuf":
            numbers = zip(decimals(found.values), found.present.tolist(), strict=True)
            texts = [text if is_there else None for text, is_there in numbers]
        else:
            return {}
        kept.append(column)
        for row, text in enumerate(texts):
            if text is not None and (not text.strip() or text != text.strip() or b"\n" in text):
                problem = "a table of Kaldi has no empty values and no line breaks"
                losses.report(column, problem, row)
                texts[row] = None
        return {key: text for key, text in zip(keys, texts, strict=True) if text is not None}

    for name, column in (*_TEXTS.items(), *_NUMBERS.items()):
        files[name] = cells(column)
    speakers = files["utt2spk"] = dict.fromkeys(keys, b"") | files["utt2spk"]
    files["utt2spk"] = speakers = {key: value or key for key, value in speakers.items()}
    files["spk2gender"] = {speakers[key]: value for key, value in cells("gender").items()}
    parts, audio = [cells(name) for name in _SEGMENT], cells(AUDIO)
    files["segments"] = {
        key: b" ".join(part[key] for part in parts)
        for key in keys
        if all(key in part for part in parts)
    }
    files["wav.scp"] = {parts[0].get(key, key): value for key, value in audio.items()}
    inverse: dict[bytes, list[bytes]] = {}
    for key in sorted(keys):
        inverse.setdefault(speakers[key], []).append(key)
    files["spk2utt"] = {speaker: b" ".join(some) for speaker, some in inverse.items()}
    patterns.stored.update(kept)
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
