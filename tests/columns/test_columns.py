import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays

from exset.grammars.columns.arrays import (
    canonical_nan,
    chosen_rows,
    compact,
    concat,
    concat_offsets,
    constant,
    frozen,
    gather_ragged,
    is_constant,
    offsets_of,
    same,
    take,
)
from exset.grammars.columns.ragged import Ragged, Reals, Strings

rows = st.lists(st.none() | st.binary(max_size=6), max_size=12)
few = st.lists(st.none() | st.sampled_from([b"", b"a", b"b", b"ab", b"\0", b"\0\0"]), max_size=12)
numbers = st.lists(st.lists(st.integers(-5, 5), max_size=4), max_size=8)


def floats(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, np.float32)


def ragged(given: list[list[int]]) -> Ragged[np.int32]:
    values = np.array([number for row in given for number in row], np.int32)
    return Ragged(values, offsets_of(np.array([len(row) for row in given], np.int64)))


@st.composite
def picks(draw: st.DrawFn, n: int) -> list[int]:
    """Indices of n rows: any, or a run."""
    if n == 0:
        return []
    start, stop = draw(st.integers(0, n - 1)), draw(st.integers(0, n))
    return draw(st.just(list(range(start, stop))) | st.lists(st.integers(-n, n - 1), max_size=9))


def test_a_constant_takes_no_space() -> None:
    column = constant(7, 10**12, np.int32)
    assert column.size == 10**12 and column.strides == (0,)
    assert is_constant(column) and same(column, constant(7, 10**12, np.int32))
    assert not same(column, constant(8, 10**12, np.int32))
    assert take(column, np.array([5, 3])).strides == (0,)
    with pytest.raises(IndexError):
        take(constant(7, 3, np.int32), np.array([0, 3]))


@pytest.mark.parametrize(
    ("values", "default", "becomes"),
    [
        ([1, 1, 1], None, True),
        ([1, 1, 1], 1, True),
        ([1, 1, 1], 0, False),
        ([1, 2, 1], None, False),
        ([0.0, -0.0], None, False),
        ([np.nan, np.nan], None, True),
        ([], None, True),
    ],
)
def test_compact(values: list[float], default: float | None, becomes: bool) -> None:
    before = floats(*values)
    after = compact(before, default)
    assert same(after, before)
    assert (after.strides == (0,)) is becomes
    assert not after.flags.writeable


def test_frozen_leaves_the_original_alone() -> None:
    mine = np.zeros(3)
    assert not frozen(mine).flags.writeable and mine.flags.writeable


def test_same_is_bitwise() -> None:
    assert same(floats(np.nan), floats(np.nan))
    assert not same(floats(0.0), floats(-0.0))
    assert not same(floats(1.0), np.array([1.0]))
    assert not same(floats(1.0), floats(1.0, 1.0))
    assert same(constant(1, 2, np.float32), floats(1, 1))


def test_canonical_nan() -> None:
    odd = np.array([0x7FC00000, 0xFFC00001, 0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    bits = canonical_nan(odd).view(np.uint32).tolist()
    assert bits == [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x3F800000]
    good = floats(np.nan, 1)
    assert canonical_nan(good) is good
    wrong = np.broadcast_to(odd[1], (3,))
    assert same(canonical_nan(wrong), floats(np.nan, np.nan, np.nan))


def test_concat_keeps_constants() -> None:
    ones, none = constant(1, 3, np.int32), np.empty(0, np.int32)
    assert concat([ones, none, ones]).strides == (0,)
    assert concat([none, none]).size == 0
    assert concat([ones, constant(2, 1, np.int32)]).tolist() == [1, 1, 1, 2]


@given(st.lists(numbers, min_size=1, max_size=3))
def test_concat_of_rows(tables: list[list[list[int]]]) -> None:
    joined = Ragged.concat([ragged(each) for each in tables])
    assert joined == ragged([row for each in tables for row in each])
    assert same(concat_offsets([ragged(each).offsets for each in tables]), joined.offsets)


@given(st.data(), numbers)
def test_gather(data: st.DataObject, given_rows: list[list[int]]) -> None:
    table = ragged(given_rows)
    chosen = data.draw(picks(len(given_rows)))
    index = np.array(chosen, np.int64)
    assert table.take(index) == ragged([given_rows[i] for i in chosen])
    begin, end = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    assert table[begin:end] == ragged(given_rows[begin:end])
    assert [row.tolist() for row in table] == given_rows
    spread = constant(1, table.values.size, np.int32)
    ones, offsets = gather_ragged(spread, table.offsets, index)
    assert ones.size == offsets[-1] == sum(len(given_rows[i]) for i in chosen)


def test_consecutive_rows_are_a_view() -> None:
    table = ragged([[1], [2, 3], [4]])
    assert np.shares_memory(table[1:].values, table.values)
    assert np.shares_memory(table.take(np.array([0, 1])).values, table.values)


def test_gather_is_checked() -> None:
    table = ragged([[1], [2, 3]])
    for wrong in ([2], [0, 1, 2], [-3, 0]):
        with pytest.raises(IndexError):
            table.take(np.array(wrong))


def test_chosen_rows() -> None:
    assert chosen_rows(slice(None, None, -1), 3).tolist() == [2, 1, 0]
    assert chosen_rows([-1, 0], 3).tolist() == [2, 0]
    assert chosen_rows([True, False, True], 3).tolist() == [0, 2]
    assert chosen_rows([], 3).size == 0
    with pytest.raises(IndexError, match="no row 3: the last row is 2"):
        chosen_rows([0, 3], 3)
    for wrong in ([True], [0.5], 1, [[0]]):
        with pytest.raises(ValueError):
            chosen_rows(wrong, 3)


@given(rows)
def test_strings_are_a_list(given_rows: list[bytes | None]) -> None:
    column = Strings.of(given_rows)
    assert column.tolist() == given_rows == [column[i] for i in range(len(column))]
    assert column.lengths.tolist() == [len(row or b"") for row in given_rows]
    assert column == Strings.of(list(column))
    assert not column.data.flags.writeable
    assert Strings.concat([column, column]).tolist() == given_rows * 2


@given(st.data(), rows)
def test_strings_taken(data: st.DataObject, given_rows: list[bytes | None]) -> None:
    column = Strings.of(given_rows)
    chosen = data.draw(picks(len(given_rows)))
    assert column.take(np.array(chosen, np.int64)).tolist() == [given_rows[i] for i in chosen]
    assert column[1:-1].tolist() == given_rows[1:-1]
    assert column[::-2].tolist() == given_rows[::-2]


@given(few | rows, st.integers(1, 3), st.integers(0, 2))
def test_distinct_strings(given_rows: list[bytes | None], times: int, more: int) -> None:
    given_rows = given_rows * times + given_rows[:more]
    distinct, number = Strings.of(given_rows).distinct()
    raw = [row or b"" for row in given_rows]
    order = list(dict.fromkeys(raw))
    assert [row or b"" for row in distinct] == order
    assert number.tolist() == [order.index(row) for row in raw]


def test_distinct_survives_collisions(monkeypatch: pytest.MonkeyPatch) -> None:
    unique = np.unique
    monkeypatch.setattr(np, "unique", lambda a, **kw: unique(np.zeros_like(a), **kw))
    distinct, number = Strings.of([b"x", b"y", b"x", None]).distinct()
    assert (distinct.tolist(), number.tolist()) == ([b"x", b"y", None], [0, 1, 0, 2])


def test_text_is_utf8_with_surrogates() -> None:
    column = Strings.of(["é", b"\xff", None, "\udcff"])
    assert [column.text(i) for i in range(4)] == ["é", "\udcff", None, "\udcff"]
    assert column[3] == b"\xff" and column[-1] == b"\xff"
    with pytest.raises(IndexError):
        column.text(4)


def test_none_differs_from_empty() -> None:
    assert Strings.of([None]) != Strings.of([b""])
    assert Strings.empty(10**9) == Strings.empty(10**9)
    assert repr(Strings.of([b"a", None])) == "Strings(1 of 2 present)"


def test_from_spans() -> None:
    buffer = np.frombuffer(b"abcdef", np.uint8)
    starts, ends = np.array([4, 0, 2, -1]), np.array([6, 3, 2, 99])
    given_rows = np.array([True, True, True, False])
    column = Strings.from_spans(buffer, starts, ends, given_rows)
    assert column.tolist() == [b"ef", b"abc", b"", None]
    assert Strings.from_spans(buffer, starts, ends, np.zeros(4, np.bool_)) == Strings.empty(4)
    with pytest.raises(ValueError, match="out of bounds"):
        Strings.from_spans(buffer, starts, ends)


@pytest.mark.parametrize(
    ("data", "offsets", "given_rows", "match"),
    [
        ([1], [0, 1], [False], "present"),
        ([1], [0, 2], [True], "offset"),
        ([1], [1, 1], [True], "offset"),
        ([1, 2], [0, 3, 2], [True, True], "offset"),
        ([1], [], [], "offset"),
        ([1], [0, 1], [True, True], "present"),
    ],
)
def test_strings_are_checked(
    data: list[int], offsets: list[int], given_rows: list[bool], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        Strings(
            np.array(data, np.uint8), np.array(offsets, np.int64), np.array(given_rows, np.bool_)
        )


def test_dtypes_are_checked() -> None:
    with pytest.raises(ValueError, match="data"):
        Strings(np.zeros(0, np.int8), np.zeros(1, np.int64), np.zeros(0, np.bool_))
    with pytest.raises(ValueError, match="offsets"):
        Ragged(np.zeros(0), np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="values"):
        Reals(np.zeros(0, ">f4"), np.zeros(0, np.bool_))
    with pytest.raises(ValueError, match="strings"):
        Strings.of([3])  # type: ignore[list-item]


@given(numpy_arrays(np.float32, 5), numpy_arrays(np.bool_, 5))
def test_reals(values: np.ndarray, present: np.ndarray) -> None:
    column = Reals(values, present)
    assert [column[i] is not None for i in range(5)] == present.tolist()
    assert same(column.values[~present], np.zeros(5, np.float32)[~present])
    assert column == Reals(column.values, present)
    assert column.take(np.array([3, 0])) == Reals(values[[3, 0]], present[[3, 0]])
    assert Reals.concat([column[:2], column[2:]]) == column


def test_columns_cannot_be_changed() -> None:
    column = Reals.empty(2)
    with pytest.raises(AttributeError):
        column.values = floats(1, 2)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        ragged([[1]]).values[0] = 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(column)
    assert column != Ragged.empty(2, np.float32)


@given(st.data(), rows)
def test_repeated_strings(data: st.DataObject, given: list[bytes | None]) -> None:
    size = len(given)
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)), int)
    column = Strings.of(given)
    indices = np.repeat(np.arange(size), counts)
    assert column.repeated(counts) == column.take(indices)
