"""A signaling NaN, which a file may hold, is a NaN like any other for every writer."""

import warnings

import numpy as np
import pytest

from exset import formats
from exset.core.errors import Findings, FormatError
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.table import Table
from exset.testing.contract import LIMITS, check

_BITS = {
    "f2": np.array([0x7C01, 0xFC01, 0x7C00, 0x3C00], "u2"),
    "f4": np.array([0x7F800001, 0xFF800001, 0x7F800000, 0x3F800000], "u4"),
    "f8": np.array([0x7FF0 << 48 | 1, 0xFFF0 << 48 | 1, 0x7FF0 << 48, 0x3FF0 << 48], "u8"),
}
_NAMES = [
    ("inputs.a", "targets.b"), ("frequency", "inputs"), ("max_time", "inputs"), ("path", "label"),
    ("label", "features"), ("x", "y"), ("example", "event"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", _BITS)
@pytest.mark.parametrize("names", _NAMES, ids="-".join)
def test_every_writer_takes_it(dtype: str, names: tuple[str, ...]) -> None:
    single = Numbers.of(_BITS[dtype].view(dtype))
    array = Numbers.of(single.values[:, np.newaxis])
    listed = Lists.of(single, np.ones(4, np.int64))
    columns: list[TableColumn] = [single, array, listed]
    for column in columns:
        table = Table(dict.fromkeys(names, column), 4, {})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for fmt in formats.of_family(formats.get("npz").family):
                if not fmt.is_written or fmt.is_folder:
                    continue
                try:
                    data = fmt.write(table, findings=Findings())
                except FormatError:
                    continue
                assert isinstance(data, bytes)


@pytest.mark.parametrize("dtype", _BITS)
def test_the_summary_takes_it(dtype: str) -> None:
    table = Table({"inputs": Numbers.of(_BITS[dtype].view(dtype))}, 4, {})
    assert check(formats.get("npz"), formats.get("npz").write(table), limits=LIMITS)
