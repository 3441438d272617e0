"""The two drivers of the binary engine give the same columns, the same bytes, the same errors."""

import math
import os
import random
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
import pytest
from construct import (
    Array,
    Byte,
    ConstructError,
    Container,
    Int16ub,
    Int32ub,
    ListContainer,
    Struct,
    this,
)

from exset.codecs.engine import (
    Fields,
    Layout,
    Values,
    read,
    reader,
    reference_reader,
    reference_writer,
    write,
    writer,
)
from exset.codecs.engine.declaration import NulString
from exset.codecs.engine.execution import TooLarge
from exset.codecs.engine.gather import KERNELS
from exset.codecs.lens import bex
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.ragged import Strings
from tests.codecs.foreign_layouts import LAYOUTS
from tests.codecs.test_engine import flattened
from tests.lens.bex_builder import RICH

CASES = int(os.environ.get("EXSET_CASES", "100"))  # of each kind, for each layout
COMPILED = [False, True] if KERNELS.use_compiled(0, "table") else [False]
LIMITS = Limits(max_name=64)


def entry(name: bytes, data: bytes = b"") -> Container:
    sizes = Container(size_high=len(data) >> 16, size_low=len(data) & 0xFFFF)
    return Container(time_high=1, time_low=2, name_size=len(name), name=name, data=data, **sizes)


def picture(
    width: int, height: int, title: bytes, samples: Container, *, is_deep: bool = False
) -> Container:
    body = Container(width=width, height=height, is_deep=is_deep, title=title, samples=samples)
    return Container(body=body, rank=9)


ROWS = [Container(low=-1.5, high=2.5), Container(low=0.0, high=0.0), Container(low=1, high=2)]
STEPS = [
    Container(left=5, kind=b"go", of=[1, 2]),
    Container(left=-5, kind=b"go", of=[3, 4]),
    Container(left=0, kind=b"stop", of=[5, 6]),
]


def numbers(a: int, b: int, x: float, h: float, f: float, count: int) -> Container:
    either = Container(u=7) if x + h < a else Container(v=-7)
    many = count % 5 + (f >= 0.5) - (h != h) * 2
    blocks = (count & 3) | (a == -1)
    return Container(
        a=a, b=b, x=x, h=h, f=f, either=either, count=count, key=b"key",
        many=[0.5 * k for k in range(many)],
        some=[1e300] * (-count // 3 * (count < 0)),
        blocks=[Container(w=k) for k in range(blocks)],
        rest=Container(r=bytes(range(count))) if not x else None,
        steps=STEPS,
        pairs=[Container({"in": [Container(z=-1)] * (count & 1), "end": 3})] * 2,
    )  # fmt: skip


CONTAINERS: dict[str, list[Container]] = {
    "archive": [
        Container(entries=[entry(b"END!\0")], mark=b"ok"),
        Container(
            entries=[
                entry(b"a\0", b"12345"),
                entry(b"long name\0"),
                entry(b"END!", b"\0" * 9),
                entry(b"END!\0"),
            ],
            mark=b"\0\xff",
        ),
    ],
    "pictures": [
        Container(version=1, pictures=[], notes=[b"", b"x"], table=ROWS),
        Container(
            version=7,
            pictures=[
                picture(3, 2, b"first", Container(flat=[1, 2, 3, 4])),
                picture(2, 1, b"", Container(scale=0.5, deep=[-1, 300]), is_deep=True),
                picture(1, 0, b"three", Container(flat=[])),
            ],
            notes=[b"note", b""],
            table=ROWS,
        ),
    ],
    "numbers": [
        numbers(5, 3, 0.0, 1.0, 0.25, 3),
        numbers(-1, 2**63 - 1, 0.0, 2.0, 4.0, 0),
        numbers(10, 0, 3.5, 0.5, 0.75, -9),
        numbers(-(2**40), 2**62, 1e9, -2.0, 0.5, 31),
    ],
}

SAMPLES = {
    name: [cast(bytes, LAYOUTS[name].build(each)) for each in containers]
    for name, containers in CONTAINERS.items()
}
ALL = {
    **{name: (Layout(con), SAMPLES[name]) for name, con in LAYOUTS.items()},
    "lens": (bex.LAYOUT, [RICH]),
}


def plain(values: Values) -> object:
    if isinstance(values, Strings):
        return values.tolist()
    return values.dtype.str, values.tobytes()


def outcome(make: Callable[[], object]) -> object:
    """Return the result, or the error with its place."""
    try:
        return make()
    except FormatError as error:
        place = error.place
        where = None if place is None else (place.span, place.field)
        return type(error).__name__, error.message, where, error.hint
    except ValueError as error:
        return str(error)


def all_fields(driver: Callable[[], Fields]) -> object:
    """Return all that a driver reads, or its error."""

    def make() -> object:
        fields = driver()
        columns = {path: plain(column) for path, column in fields.items()}
        starts = {
            path: fields.starts[path].tolist()
            for path in [*fields.layout.leaves, *fields.layout.rows]
        }
        bounds = {path: fields.bounds[path].tolist() for path in fields.layout.rows}
        return columns, starts, bounds, fields.end

    return outcome(make)


def compare_reading(layout: Layout, data: bytes) -> bool:
    """Check that the drivers read the same; return whether the data are valid."""
    source = Source("x", data)
    expected = all_fields(lambda: reference_reader.read(layout, source, LIMITS))
    for compiled in COMPILED:
        try:
            actual = all_fields(lambda: reader.interpret(layout, source, LIMITS, compiled=compiled))  # noqa: B023
        except TooLarge:
            actual = expected
        assert actual == expected, data
    return isinstance(expected, tuple) and isinstance(expected[0], dict)


def compare_writing(layout: Layout, fields: Mapping[str, Values]) -> bool:
    """Check that the drivers write the same; return whether the columns are valid."""
    expected = outcome(lambda: reference_writer.write(layout, fields))
    for compiled in COMPILED:
        try:
            actual = outcome(lambda: writer.interpret(layout, fields, compiled=compiled))  # noqa: B023
        except TooLarge:
            actual = expected
        assert actual == expected
    return isinstance(expected, bytes)


def changed(data: bytes, rng: random.Random) -> bytes:
    """Replace, delete or insert a few bytes or words."""
    raw = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at = rng.randrange(len(raw) + 1)
        word = rng.choice([b"\xff", b"\0", b"\x7f", b"\x80", b"\1", bytes([rng.randrange(256)])])
        size = rng.choice([1, 1, 2, 4, 8])
        if rng.random() < 0.9:
            raw[at : at + size] = word * min(size, len(raw) - at)
        elif rng.random() < 0.5:
            del raw[at : at + size]
        else:
            raw[at:at] = word * size
    return bytes(raw)


def changed_columns(fields: Mapping[str, Values], rng: random.Random) -> dict[str, Values]:
    """Replace, delete or insert a value in some columns."""
    columns = dict(fields)
    for path in rng.sample(list(columns), rng.choice([1, 1, 2])):
        column = columns[path]
        if isinstance(column, Strings):
            strings = column.tolist()
            if strings and rng.random() < 0.7:
                strings[rng.randrange(len(strings))] = rng.choice([b"", b"\0", b"END!\0", b"abc"])
            elif strings and rng.random() < 0.5:
                strings.pop()
            else:
                strings.append(rng.choice([None, b"", b"x\0y"]))
            columns[path] = Strings.of(strings)
            continue
        numbers = column.copy()
        if numbers.size and rng.random() < 0.7:
            raw = numbers.view(np.uint8)
            raw[rng.randrange(raw.size)] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
            numbers = numbers if numbers.dtype != np.bool_ else raw.astype(np.bool_)
        elif numbers.size and rng.random() < 0.5:
            numbers = numbers[:-1]
        else:
            numbers = np.append(numbers, numbers[-1:] if numbers.size else numbers.dtype.type(1))
        columns[path] = numbers
    return columns


@pytest.mark.parametrize("name", ALL)
def test_complete_and_truncated_files(name: str) -> None:
    layout, samples = ALL[name]
    for sample in samples:
        assert compare_reading(layout, sample)
        assert compare_reading(layout, sample + b"more")
        for end in range(len(sample)):
            assert not compare_reading(layout, sample[:end])


@pytest.mark.parametrize("name", ALL)
def test_changed_files(name: str) -> None:
    layout, samples = ALL[name]
    rng = random.Random(name)
    read = sum(compare_reading(layout, changed(rng.choice(samples), rng)) for _ in range(CASES))
    assert CASES // 20 < read < CASES


@pytest.mark.parametrize("name", ALL)
def test_any_bytes(name: str) -> None:
    layout, samples = ALL[name]
    rng = random.Random(name)
    for _ in range(CASES // 3):
        head = rng.choice(samples)
        compare_reading(layout, head[: rng.randrange(len(head))] + rng.randbytes(40))


@pytest.mark.parametrize("name", ALL)
def test_writing(name: str) -> None:
    layout, samples = ALL[name]
    rng = random.Random(name)
    whole = [read(layout, Source("x", sample)) for sample in samples]
    for fields, sample in zip(whole, samples, strict=True):
        assert write(layout, fields) == sample
        assert compare_writing(layout, fields)
    written = sum(
        compare_writing(layout, changed_columns(rng.choice(whole), rng)) for _ in range(CASES)
    )
    assert CASES // 20 < written < CASES


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("engine", ["reference", "table"])
def test_the_drivers_agree_with_construct(name: str, engine: Engine) -> None:
    """Files are read as Construct parses them, and written as Construct builds them."""
    layout, samples = ALL[name]
    rng = random.Random(name)
    for data in [*samples, *(changed(rng.choice(samples), rng) for _ in range(100))]:
        try:
            parsed = LAYOUTS[name].parse(data)
        except (ConstructError, ArithmeticError):
            with pytest.raises(FormatError):
                read(layout, Source("x", data), engine=engine)
            continue
        try:
            fields = read(layout, Source("x", data), engine=engine)
        except FormatError:
            continue  # exset is stricter about counts and lengths of strings
        expected: dict[str, list[object]] = {path: [] for path in layout.leaves}
        flattened(parsed, "", expected)
        assert repr({path: fields[path].tolist() for path in fields}) == repr(expected)
        assert write(layout, fields, engine=engine) == LAYOUTS[name].build(quiet(parsed))


def quiet(value: object) -> object:
    """Make each NaN quiet: whether Construct keeps others depends on the version of Python."""
    if isinstance(value, Container):
        return Container({name: quiet(inner) for name, inner in value.items()})
    if isinstance(value, list):
        return ListContainer(map(quiet, value))
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def test_more_than_64_bits() -> None:
    """The reference driver computes what the interpreter cannot."""
    layout, _ = ALL["numbers"]
    data = bytearray(SAMPLES["numbers"][0])
    data[:16] = b"\x7f" + b"\xff" * 15
    with pytest.raises(TooLarge):
        reader.interpret(layout, Source("x", bytes(data)), DEFAULT, compiled=False)
    fields = read(layout, Source("x", bytes(data)), engine="table")
    assert fields["b"].tolist() == [2**64 - 1]
    assert write(layout, fields, engine="table") == bytes(data)


def test_streams_grow() -> None:
    """There are far more elements than the first room, and the later ones are unlike the first."""
    layout = Layout(
        Struct(
            "n" / Int32ub,
            "a"
            / Array(this.n, Struct("k" / Byte, "b" / Array(this.k, Int16ub), "s" / NulString())),
        )
    )
    rng = random.Random(1)
    sizes = [*[0] * 5000, *(rng.choice([0, 1, 3]) for _ in range(5000))]
    data = len(sizes).to_bytes(4, "big") + b"".join(
        bytes([k]) + bytes(2 * k) + b"x" * (k * 5) + b"\0" for k in sizes
    )
    for cut in (data, data[:-1], data[: len(data) // 2]):
        compare_reading(layout, cut)
    compare_writing(layout, read(layout, Source("x", data)))


@pytest.mark.parametrize("engine", ["auto", "table", "reference"])
def test_blobs_are_not_copied(engine: Engine) -> None:
    """A source may be a view, of a mapped file for instance; `spans` gives the places of blobs."""
    layout = Layout(LAYOUTS["archive"])
    container = CONTAINERS["archive"][1]
    data = LAYOUTS["archive"].build(container)
    source = Source("x", memoryview(b"before" + data)[6:])
    fields = read(layout, source, engine=engine)
    starts, lengths = fields.spans("entries.data")
    spans = zip(starts.tolist(), lengths.tolist(), strict=True)
    blobs = [data[start : start + length] for start, length in spans]
    assert blobs == [each.data for each in container.entries]
    assert blobs == fields.strings("entries.data").tolist()
    assert write(layout, fields, engine=engine) == data
    with pytest.raises(FormatError, match="data end"):
        read(layout, Source("x", memoryview(data)[:-1]), engine=engine)
