"""Templates of records change nothing but the speed: the drivers agree, and templates are used."""

import random
from collections.abc import Iterator
from functools import partial

import pytest
from construct import (
    Array,
    Check,
    Construct,
    Container,
    Flag,
    Float32b,
    Float64l,
    GreedyRange,
    IfThenElse,
    Int8sb,
    Int16ul,
    Int32sb,
    Pass,
    Struct,
    this,
)

from exset.codecs.engine import Layout, execution, read, reader, template, writer
from exset.codecs.engine.declaration import NulString
from exset.codecs.engine.reader import interpret
from exset.core.source import Source
from tests.codecs.test_drivers import (
    CASES,
    COMPILED,
    LIMITS,
    all_fields,
    changed,
    changed_columns,
    compare_reading,
    compare_writing,
)

ITEM = Struct(
    "name" / NulString(),
    "n" / Int8sb,
    "has_prices" / Flag,
    "code" / Int16ul,
    Check(this.code < 300),
    "prices"
    / IfThenElse(
        this.has_prices,
        Struct("price" / Array(this._.n * (this._.n > 0), Float32b), "sum" / Float64l),
        Pass,
    ),
    "k" / Int32sb,
    Check(this.k * 2 <= this.code),
    "notes" / Array(this.k, Struct("note" / NulString(), "sizes" / Array(2, Int8sb))),
)
COUNTED = Struct("num" / Int32sb, "items" / Array(this.num, ITEM), "end" / Int32sb)
REST = Struct("num" / Int32sb, "items" / GreedyRange(ITEM))
done = list[int]()


@pytest.fixture(autouse=True)
def templates_of_few_records(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make templates from the second record on, and note for how many records each fits."""

    def noted(run: execution.Execution) -> tuple[int, bool]:
        count, is_unlike = template.repeat_record(run)
        done.append(count)
        return count, is_unlike

    for name in ("_LARGE", "_FEW", "_MANY", "_LONGER"):
        monkeypatch.setattr(execution, name, int(name != "_LARGE"))
    monkeypatch.setattr(template, "_AT_ONCE", 3)
    for module in (reader, writer):
        monkeypatch.setattr(module, "repeat_record", noted)
    done.clear()
    yield
    assert max(done) > 3, "no template is used for more than one block"


def file_of(layout: Construct, rng: random.Random) -> bytes:
    """Return a file of records, of which several in turn are similar."""
    items = list[Container]()
    for _ in range(rng.randrange(1, 4)):
        n, k, has_prices = rng.randrange(-1, 3), rng.randrange(3), rng.random() < 0.5
        count = rng.randrange(1, 14)
        for _ in range(count):
            notes = [
                Container(note=b"x" * rng.choice([0, 0, 1, 20]), sizes=[1, -1]) for _ in range(k)
            ]
            prices = Container(price=[rng.random()] * max(n, 0), sum=rng.random())
            items.append(
                Container(
                    name=b"name"[: rng.randrange(5)],
                    n=n,
                    has_prices=has_prices,
                    code=20 + (rng.random() < 0.02),
                    prices=prices if has_prices else None,
                    k=k,
                    notes=notes,
                )
            )
    data: bytes = layout.build(Container(num=len(items), items=items, end=7))
    return data


def test_reading() -> None:
    layout, rng = Layout(COUNTED), random.Random(1)
    for _ in range(CASES):
        data = file_of(COUNTED, rng)
        assert compare_reading(layout, data)
        compare_reading(layout, changed(data, rng))
        compare_reading(layout, data[: rng.randrange(len(data))])


def test_reading_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, rng = Layout(REST), random.Random(2)
    for _ in range(CASES):
        source = Source("x", changed(file_of(REST, rng), rng))
        for compiled in COMPILED:
            found = []
            for least in (0, 1 << 60):
                monkeypatch.setattr(execution, "_LARGE", least)
                found.append(
                    all_fields(partial(interpret, layout, source, LIMITS, compiled=compiled))
                )
            assert found[0] == found[1]


def test_writing() -> None:
    layout, rng = Layout(COUNTED), random.Random(3)
    for _ in range(CASES):
        fields = read(layout, Source("x", file_of(COUNTED, rng)))
        assert compare_writing(layout, fields)
        compare_writing(layout, changed_columns(fields, rng))


def test_long_strings() -> None:
    layout, few = Layout(COUNTED), b"x\0" + bytes(2) + b"\x14" + bytes(5)
    for size in (64, 65):
        many = few * 9 + b"y" * size + few[1:] + few
        data = b"\0\0\0\x0b" + many + b"last"
        assert compare_reading(layout, data) == (size <= LIMITS.max_name)
