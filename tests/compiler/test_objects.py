"""Compiled kernels give what the same kernels give as plain Python, and with Numba's own JIT."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.compiler import declared
from exset.core import disk_cache, native
from exset.core.kernels import ENTRY, Kernels, kernel, mark_of
from tests.compiler import tiny_kernels as tiny

pytest.importorskip("numba")
from exset.compiler import objects

GROUP = Kernels("tests.compiler.tiny_kernels")

Functions = dict[str, Callable[..., Any]]


@pytest.fixture(scope="module")
def functions() -> Functions:
    from exset.compiler.objects import compile_group

    return native.link(compile_group(GROUP))


@given(st.integers(-(2**40), 2**40), st.floats(-1e9, 1e9), st.booleans(), st.integers(0, 2**64 - 1))
def test_numbers(functions: Functions, whole: int, real: float, flag: bool, key: int) -> None:
    arguments = whole, real, flag, np.uint64(key)
    assert functions["numbers"](*arguments) == tiny.numbers(*arguments)


@given(st.tuples(*[st.integers(1, 4)] * 3))
def test_shapes(functions: Functions, shape: tuple[int, int, int]) -> None:
    results = []
    for run in (functions["shapes"], tiny.shapes):
        rows = np.arange(shape[0] * shape[1]).reshape(shape[:2]) + 5
        cube = np.arange(np.prod(shape), dtype=np.int32).reshape(shape) * 3
        pair = tiny.Pair(np.array([7, 8]), np.zeros(3, np.float32))
        results.append((run(rows, cube, pair, (2, 1)), rows.tolist(), pair.b.tolist()))
    assert results[0] == results[1]


def test_unions(functions: Functions) -> None:
    for dtype in (np.int32, np.int64):
        ones, twos = np.full(2, 1, dtype), np.full(2, 2, dtype)
        assert functions["either"](ones, ones) is True
        assert functions["either"](ones, twos) is False
    out = np.zeros(4, np.bool_)
    assert functions["nothing"](None, out) is None
    assert out.all()


@given(st.lists(st.integers(-(2**55), 2**55), max_size=9))
def test_instructions(functions: Functions, words: list[int]) -> None:
    arguments = np.array(words, np.int64), np.array([0x82F63B78])
    assert functions["checksum"](*arguments) == tiny.checksum(*arguments)


@pytest.mark.skipif(not objects._IS_X86, reason="the instruction is one of x86")
def test_an_instruction_replaces_a_kernel(functions: Functions) -> None:
    words = np.array([1, 2, 3])
    crc = functions["checksum"](words, np.array([0x82F63B78]))
    assert functions["checksum"](words, np.array([0])) == crc
    assert tiny.checksum(words, np.array([0])) != crc


def test_several_unions_are_chosen_together() -> None:
    from exset.compiler.signatures import variants

    def both(a: int | np.uint64, b: float | np.int32, c: int) -> None: ...
    def unequal(a: int | float, b: int | float | np.uint64) -> None: ...

    texts = [[str(each) for each in choice] for choice in variants(both)]
    assert texts == [["int64", "float64", "int64"], ["uint64", "int32", "int64"]]
    with pytest.raises(AssertionError, match="unequal"):
        [*variants(unequal)]


class TestWrongArguments:
    rows = np.zeros((2, 2), np.int64)
    cube = np.zeros((1, 1, 1), np.int32)
    pair = tiny.Pair(np.zeros(2, np.int64), np.zeros(3, np.float32))

    @pytest.mark.parametrize(
        "rows",
        [
            np.zeros((2, 2), np.int32),
            np.zeros((2, 2), ">i8"),
            np.zeros(4, np.int64),
            np.zeros((4, 2), np.int64)[::2],
            np.zeros((2, 2), np.int64, order="F"),
            np.zeros(33, np.uint8)[1:].view(np.int64).reshape(2, 2),
            np.broadcast_to(np.int64(0), (1, 1)),
            [[0, 0], [0, 0]],
            None,
            4,
        ],
        ids=[
            "dtype",
            "order",
            "ndim",
            "gaps",
            "columns",
            "unaligned",
            "frozen",
            "list",
            "none",
            "int",
        ],
    )
    def test_arrays(self, functions: Functions, rows: Any) -> None:
        with pytest.raises(TypeError):
            functions["shapes"](rows, self.cube, self.pair, (0, 0))

    def test_an_array_that_is_only_read_may_be_frozen(self, functions: Functions) -> None:
        cube = self.cube.copy()
        cube.flags.writeable = False
        assert functions["shapes"](self.rows, cube, self.pair, (0, 0)) == (0, 0)

    @pytest.mark.parametrize("pair", [pair[:1], (*pair, pair[0]), (pair[1], pair[0])])
    def test_tuples(self, functions: Functions, pair: Any) -> None:
        with pytest.raises((TypeError, ValueError)):
            functions["shapes"](self.rows, self.cube, pair, (0, 0))

    @pytest.mark.parametrize("whole", [1.5, 2**63, "1", None, np.zeros(1, np.int64)])
    def test_numbers(self, functions: Functions, whole: Any) -> None:
        with pytest.raises(TypeError):
            functions["numbers"](whole, 0.0, False, np.uint64(0))

    def test_no_variant_fits(self, functions: Functions) -> None:
        with pytest.raises(TypeError):
            functions["either"](np.zeros(1, np.int32), np.zeros(1, np.int64))
        with pytest.raises(TypeError):
            functions["nothing"]([1], np.zeros(1, np.bool_))


def by_numba(number: tuple[int, float, bool, int]) -> tuple[float, list[bool]]:
    """Run two kernels with Numba's own JIT, in a process whose Numba makes machine code."""
    from numba import njit

    names: dict[str, Any] = GROUP.copies(
        lambda function, mark: njit(inline="always" if mark == "inline" else "never")(function)
    )
    out = np.zeros(3, np.bool_)
    names["nothing"](None, out)
    return names["numbers"](*number[:3], np.uint64(number[3])), out.tolist()


def test_numba_itself_gives_the_same(functions: Functions) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        number, flags = pool.submit(by_numba, (3, 0.1, True, 2**63)).result()
    assert functions["numbers"](3, 0.1, True, np.uint64(2**63)) == number
    out = np.zeros(3, np.bool_)
    functions["nothing"](None, out)
    assert out.tolist() == flags


def test_two_kernels_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = FunctionType(tiny.numbers.__code__, vars(tiny), "inner")
    twin.__module__ = tiny.__name__
    monkeypatch.setattr(tiny, "twin", kernel(twin), raising=False)
    with pytest.raises(ValueError, match="same name"):
        GROUP.copies(lambda function, mark: function)


def test_a_function_that_is_missing_is_an_error() -> None:
    with pytest.raises(OSError, match="no_such_function"):
        native.link(b'{"needs": ["no_such_function"]}\n')


def test_all_entry_kernels_of_exset_are_ready() -> None:
    for group in declared.kernels():
        assert disk_cache.load(group.name), group.modules
        for function in group.marked():
            if mark_of(function) == ENTRY:
                assert group.compiled(function) is not function
