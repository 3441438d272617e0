"""Read and write the records of TFRecord files, with their checksums.

Source: TensorFlow, `record_writer.cc` and `record_reader.cc`.
"""

from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import Fields, Layout, Values, read, write
from exset.codecs.shared.crc32c import crc32c_each, crc_tables, update
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine, Kernels, entry_kernel
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Bytes, Flags, LongRows, Longs, compact, is_constant
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.shard_findings import finding_at

KERNELS: Final = Kernels("exset.codecs.shared.crc32c", "exset.codecs.tables.tfrecord")

_FILE: Final = Layout("exset.codecs.tables.tfrecord_layout:File")
_RECORDS: Final = Layout("exset.codecs.tables.tfrecord_layout:Records")
_COUNT: Final = 8  # bytes of the number of records, which a file does not have
_HEADER: Final = 12
_LENGTH: Final = 8
_DELTA: Final = 0xA282EAD8
_WORD: Final = 32
_ONES: Final = (1 << _WORD) - 1


def read_records(
    source: Source,
    *,
    damaged: bool,
    limits: Limits,
    findings: Findings,
    engine: Engine,
    first: int = 0,
) -> tuple[Longs, Longs]:
    """Return the offsets and the lengths of the records' data in the source: int64.

    first: the number of the first record, if the source is a chunk of a file.

    TensorFlow reads a file that ends within the header of a record as complete; exset adds a
    finding. Raises FormatError for other damage. With `damaged`, other damage gives a finding,
    too, and exset continues after a damaged record if its length is right.
    """
    fields = read(_FILE, source, limits=limits, engine="table" if engine == "table" else "auto")
    starts, lengths = fields.spans("records.data")
    whole = starts.size
    if engine == "reference":  # it reads no array without a count
        numbered = Source(source.name, whole.to_bytes(_COUNT, "big") + source.data)
        fields = read(_RECORDS, numbered, limits=limits, engine=engine)
        starts, lengths = fields.spans("records.data")
        starts = starts - _COUNT
    data: Bytes = np.frombuffer(source.view, np.uint8)
    sound = _are_sound(data, starts - _HEADER, _LENGTH, _crcs(fields, "length_crc", whole))
    is_damaged = not sound.all()
    if is_damaged:
        whole = int(sound.argmin())
        starts, lengths = starts[:whole], lengths[:whole]
    end = int(starts[-1] + lengths[-1]) + 4 if whole else 0
    sound = masked(crc32c_each(data, starts, lengths)) == _crcs(fields, "data_crc", whole)
    for record in np.flatnonzero(~sound).tolist():
        _report("tfrecord-data", source, first + record, int(starts[record]), damaged, findings)
    if is_damaged:
        _report("tfrecord-length", source, first + whole, end, damaged, findings)
    elif end < data.size:
        _check_rest(source, data, first + whole, end, damaged, findings)
    return starts[sound], lengths[sound]


def whole_records(data: Bytes) -> tuple[int, int] | None:
    """Return where the last complete record in `data` ends, and how many records are complete.

    data: the beginning of a file. Return None if the length of a record is damaged: exset cannot
    know where the next record begins.
    """
    run = KERNELS.choose(walk, KERNELS.use_compiled(data.size))
    end, count, is_damaged = run(data, crc_tables())
    return None if is_damaged else (end, count)


@entry_kernel
def walk(data: Bytes, tables: LongRows) -> tuple[int, int, bool]:
    """Return where the last complete record ends, and how many there are, up to a damaged length.

    Also return whether there is a damaged length. tables: the result of `crc_tables`.
    """
    at, count = 0, 0
    while len(data) - at >= _HEADER:
        length, stored = 0, 0
        for place in range(4):
            length |= int(data[at + place]) << (8 * place)
            stored |= int(data[at + _LENGTH + place]) << (8 * place)
        crc = update(data[at : at + _LENGTH], tables, _ONES) ^ _ONES
        if (((crc >> 15) | (crc << (_WORD - 15))) + _DELTA) & _ONES != stored:
            return at, count, True
        for place in range(4, 7):
            length |= int(data[at + place]) << (8 * place)
        if data[at + 7] or length > len(data) - at - _HEADER - 4:
            break
        at += _HEADER + length + 4
        count += 1
    return at, count, False


def _crcs(fields: Fields, name: str, count: int) -> NDArray[np.uint32]:
    return cast(NDArray[np.uint32], fields[f"records.{name}"])[:count]


def _check_rest(
    source: Source, data: Bytes, record: int, at: int, damaged: bool, findings: Findings
) -> None:
    """Report damage after the last complete record: an incomplete record, or a wrong length.

    record: the index of the damaged record. at: its offset.
    """
    if data.size - at < _HEADER:
        place = Place.in_bytes(source, source.start + at, f"records[{record}]")
        findings.add(finding_at("tfrecord-cut", place, count=record, size=data.size - at))
        return
    stored = data[at + _LENGTH : at + _HEADER].view("<u4")
    is_sound = _are_sound(data, np.array([at]), _LENGTH, stored)
    _report(
        "tfrecord-ends" if is_sound.all() else "tfrecord-length",
        source,
        record,
        at,
        damaged,
        findings,
    )


def _report(
    code: str, source: Source, record: int, at: int, damaged: bool, findings: Findings
) -> None:
    """Raise FormatError for a damaged record; if `damaged`, add a finding instead.

    code: that of the finding. record: the index of the record. at: its offset.
    """
    place = Place.in_bytes(source, source.start + at, f"records[{record}]")
    found = finding_at(code, place, record=record)
    if not damaged:
        raise FormatError.of(found)
    findings.add(found)


def _are_sound(data: Bytes, starts: Longs, length: int, stored: NDArray[np.uint32]) -> Flags:
    lengths = np.full(starts.size, length, np.int64)
    return cast(Flags, masked(crc32c_each(data, starts, lengths)) == stored)


def masked(crcs: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return checksums in the form in which TFRecord stores them: rotated by 15 bits, plus a
    constant.
    """
    rotated = crcs >> np.uint32(15) | crcs << np.uint32(_WORD - 15)
    return rotated + np.uint32(_DELTA)  # modulo 2**32


def records(data: Strings, *, engine: Engine = "auto") -> memoryview:
    """Return the bytes of a record for each string: its length, its bytes, and two checksums."""
    lengths = compact(data.lengths)
    some = lengths[:1] if is_constant(lengths) else lengths
    words = np.ascontiguousarray(some.astype("<i8")).view(np.uint8)
    begins = _LENGTH * np.arange(some.size, dtype=np.int64)
    crcs = masked(crc32c_each(words, begins, np.full(some.size, _LENGTH)))
    fields: dict[str, Values] = {
        "count": np.array([len(data)], np.uint64),
        "records.length": lengths.astype(np.uint32),
        "records.length_high": (lengths >> _WORD).astype(np.uint32),
        "records.length_crc": np.broadcast_to(crcs, lengths.shape),
        "records.data": data,
        "records.data_crc": masked(crc32c_each(data.data, data.offsets[:-1], lengths)),
    }
    return memoryview(write(_RECORDS, fields, engine=engine))[_COUNT:]
