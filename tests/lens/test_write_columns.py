"""The kernels that write Lens text give the same bytes compiled and as plain Python."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import Findings, FormatError
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens import render as lens_text
from exset.parsers.lens import write_columns, write_fields
from exset.parsers.shared import numerals, shortest
from exset.testing import example_sets

compiled = pytest.mark.skipif(
    not write_columns.KERNELS.use_compiled(0, "table"), reason="no compiled kernels"
)


@pytest.fixture(scope="module")
def in_small_chunks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_columns, "_EVENTS", 2)
        patch.setattr(write_columns, "_BUFFER", 1)
        yield


def written(
    examples: ExampleSet, many: int, *, compact: bool, lossy: bool, unshare: bool
) -> tuple[bytes | str, list[str]]:
    """Return the text or the error, and the findings; sets of `many` numbers are compiled."""
    findings = Findings()
    with pytest.MonkeyPatch.context() as patch:
        for least in ("load_from", "use_from"):
            patch.setattr(write_columns.KERNELS, least, many)
        try:
            text: bytes | str = lens_text.render(
                examples, compact=compact, lossy=lossy, unshare=unshare, findings=findings
            )
        except FormatError as error:
            text = str(error)
    return text, [str(finding) for finding in findings]


@compiled
@given(
    example_sets(text=True, binary=False) | example_sets(text=False, binary=False),
    st.booleans(),
    st.booleans(),
)
def test_plain_and_compiled_kernels_write_the_same(
    in_small_chunks: None, examples: ExampleSet, compact: bool, lossy: bool
) -> None:
    plain, compiled = (
        written(examples, many, compact=compact, lossy=lossy, unshare=lossy)
        for many in (1 << 60, 0)
    )
    assert compiled == plain


@compiled
def test_every_way_to_share(in_small_chunks: None) -> None:
    rows: list[list[int]] = [[]]
    for _ in range(6):
        rows = [[*row, n] for row in rows for n in range(-1, max(row, default=-1) + 2)]
    array = np.array(rows)
    width = np.arange(len(rows))[:, None] * 6
    inputs, targets = (
        np.where(half < 0, -1, half + width).ravel() for half in (array[:, :3], array[:, 3:])
    )
    base = ExampleSet.from_arrays(np.arange(18 * len(rows)).reshape(len(rows), 3, 6), None)
    ranges = ExampleSet.from_arrays(np.arange(6 * len(rows)).reshape(-1, 1), None)
    examples = ExampleSet(
        **vars(base)
        | {
            "events": base.events.with_columns(inputs=inputs, targets=targets),
            "lists": ranges.lists,
            "ranges": ranges.ranges,
        }
    ).normalized()
    plain, compiled = (
        written(examples, many, compact=False, lossy=False, unshare=True) for many in (1 << 60, 0)
    )
    assert isinstance(plain[0], bytes)
    assert compiled == plain


def put(write: Callable[..., int], values: np.ndarray, room: int) -> list[bytes]:
    texts = []
    out = np.empty(room, np.uint8)
    for value in values:
        texts.append(out[: write(out, 0, value)].tobytes())
    return texts


def test_reals_of_all_exponents() -> None:
    random = np.random.default_rng(7)
    fractions = np.concatenate([[0, 1, 2, (1 << 23) - 1, 1 << 22], random.integers(0, 1 << 23, 4)])
    patterns = (np.arange(512)[:, None] << 23 | fractions).ravel()
    decimals = random.integers(0, 10**6, 1000) / 10.0 ** random.integers(0, 9, 1000)
    values = np.concatenate(
        [patterns.astype(np.uint32).view(np.float32), decimals.astype(np.float32)]
    )
    assert put(shortest.put_real, values.view(np.int32), 15) == numerals.reals(values)


def test_reals_of_few_digits_and_their_neighbours() -> None:
    random = np.random.default_rng(8)
    decimals = random.integers(0, 10**6, 3000) / 10.0 ** random.integers(0, 7, 3000)
    values = decimals.astype(np.float32)
    for each in (values, -values, np.nextafter(values, np.float32(9))):
        assert put(shortest.put_real, each.view(np.int32), 15) == numerals.reals(each)


@given(st.lists(st.floats(width=32)))
def test_reals(values: list[float]) -> None:
    column = np.array(values, np.float32)
    assert put(shortest.put_real, column.view(np.int32), 15) == numerals.reals(column)


@given(st.integers(-(2**31), 2**31 - 1))
def test_integers(number: int) -> None:
    assert put(shortest.put_integer, np.array([number], np.int64), 20) == [b"%d" % number]


def test_a_small_set_loads_no_compiler() -> None:
    code = (
        "import sys; from exset.grammars.lens.examples import ExampleSet;"
        "from exset.parsers.lens.render import render;"
        "render(ExampleSet.from_arrays([[0.5, 1]], [[1]]));"
        "print('numba' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert answer.stdout.strip() == b"False"


@given(example_sets(text=True, binary=False))
def test_fields_with_equal_hashes(examples: ExampleSet) -> None:
    text = lens_text.render(examples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_fields, "_MULTIPLIER", 0)  # only the last column counts
        assert lens_text.render(examples) == text
