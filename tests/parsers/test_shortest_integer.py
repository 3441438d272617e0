"""Integers are written as Python writes them, by plain and by compiled kernels."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from exset.parsers.tables import csv_kernels as k

_POWERS = [10**n + more for n in range(19) for more in (-1, 0, 1)]


@given(st.lists(st.integers(0, 63).flatmap(lambda n: st.integers(-(2**n) + 1, 2**n - 1))))
@example([sign * power for power in _POWERS for sign in (1, -1)])
@example([2**63 - 1, -(2**63) + 1])
def test_integers(numbers: list[int]) -> None:
    values, present = np.array(numbers, np.int64), np.ones(len(numbers), np.bool_)
    for is_compiled in {False, k.KERNELS.use_compiled(1 << 20)}:
        out, ends = np.zeros(k.NUMBER_ROOM * len(numbers), np.uint8), np.zeros_like(values)
        put = k.KERNELS.choose(k.put_numbers, is_compiled)
        put(values, k.WHOLE, present, 1, ord(","), out, ends)
        begins = [0, *ends[:-1].tolist()] if numbers else []
        cells = [bytes(out[a:b]) for a, b in zip(begins, ends.tolist(), strict=True)]
        assert cells == [b"%d" % number for number in numbers]
