"""The etl types of numbers, texts and sounds: whole columns, errors, and what differs from aeon."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from exset import Findings, FormatError, LoaderConfig
from exset.runtime.aeon.provision.columns import ColumnEtl
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.etl import Context, Etl
from exset.runtime.aeon.provision.layout import DTYPES
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.registry import etl_class
from exset.testing.media import wave
from tests.aeon.configs import AUDIO, CHAR_MAP, LABEL_MAP, config


def made(settings: dict[str, Any], compat: bool = False, **members: Any) -> Etl:
    """Make an etl object."""
    is_seed = settings["type"] == "audio"
    dialect = "seed" if is_seed else "head"
    given = config(settings, **members)
    found = LoaderConfig.from_dict(given, dialect=dialect, findings=Findings())
    return etl_class(settings["type"])(found.etl[0], 0, Context(found, compat=compat))


def provided(etl: Etl, element: bytes) -> list[Any]:
    """Return the arrays of an element as lists."""
    slots = [np.zeros(each.shape, DTYPES[each.dtype]) for each in etl.outputs]
    etl.provide(element, Record(0, 0, lambda purpose: Draws(1)), slots)
    return [slot.tolist() for slot in slots]


LABELS: list[dict[str, Any]] = [
    {"type": "label", "binary": binary, "output_type": kind}
    for binary in (False, True)
    for kind in DTYPES
]
BLOBS: list[dict[str, Any]] = [
    {"type": "blob", "output_count": count, "output_type": kind}
    for count, kind in [(4, "uint8_t"), (1, "float"), (3, "int16_t")]
]
ELEMENTS = st.one_of(
    st.binary(max_size=14),
    st.integers(-(2**33), 2**33).map(lambda number: b"%d" % number),
    st.sampled_from(
        [b"7", b" 8x", b"+5", b"-", b"", b"0" * 30 + b"1", b"000000000012x", b"2147483648", b"4\0"]
    ),
)


@given(st.sampled_from(LABELS + BLOBS), st.booleans(), st.lists(ELEMENTS, min_size=1), st.data())
def test_many_elements_at_once(
    settings: dict[str, Any], compat: bool, elements: list[bytes], data: st.DataObject
) -> None:
    """A whole column gives what each element gives, and leaves out those that fail."""
    if compat and settings["output_type"] == "double" and settings["type"] == "label":
        return
    etl = made(settings, compat)
    assert isinstance(etl, ColumnEtl)
    column: Any = bytes_of(elements)
    if data.draw(st.booleans()):
        kind = data.draw(st.sampled_from([np.int32, np.float32]))
        column = np.array([len(each) * 77.5 - 300 for each in elements], kind)
        elements = [each.tobytes() for each in column]
    [output] = etl.outputs
    slot = np.zeros((len(elements), *output.shape), DTYPES[output.dtype])
    left = etl.provide_many(column, [slot]).tolist()
    for row, element in enumerate(elements):
        try:
            assert element, "the loader refuses it"
            [expected] = provided(etl, element)
        except (AssertionError, FormatError):
            assert row in left
        else:
            if row not in left:
                np.testing.assert_array_equal(slot[row], np.array(expected, slot.dtype))
            else:
                assert settings["type"] == "label" and not settings["binary"]


def bytes_of(elements: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return elements as a column."""
    lengths = [0, *(len(each) for each in elements)]
    return np.frombuffer(b"".join(elements), np.uint8), np.cumsum(lengths, dtype=np.int64)


def test_whole_columns_leave_out_few() -> None:
    column = bytes_of([b"1", b"-20", b"300 ", b"+4", b"2147483647", b" 5", b"x"])
    slot = np.zeros((7, 1), np.uint32)
    etl = made({"type": "label", "binary": False})
    assert isinstance(etl, ColumnEtl) and etl.provide_many(column, [slot]).tolist() == [5, 6]
    assert slot[:5, 0].view(np.int32).tolist() == [1, -20, 300, 4, 2147483647]


@pytest.mark.parametrize(
    ("kind", "element", "expected"),
    [
        ("float", b"300", [[300.0]]),
        ("double", b"-3", [[-3.0]]),
        ("uint32_t", b"-1", [[2**32 - 1]]),
        ("int8_t", b"-3", [[-3]]),
        ("uint8_t", b"300", "the number 300 does not fit in uint8"),
        ("uint16_t", b"-1", "the number -1 does not fit in uint16"),
    ],
)
def test_labels_are_converted(kind: str, element: bytes, expected: Any) -> None:
    """aeon copies the lowest bytes instead."""
    etl = made({"type": "label", "binary": False, "output_type": kind})
    check(lambda: provided(etl, element), expected)


def check(act: Callable[[], Any], expected: Any) -> None:
    """Check a result, or the message of a FormatError."""
    if isinstance(expected, str):
        with pytest.raises(FormatError, match=expected):
            act()
    else:
        assert act() == expected


@pytest.mark.parametrize(
    ("settings", "compat", "element", "expected"),
    [
        (BLOBS[0], False, b"ab", [[97, 98, 0, 0]]),
        (BLOBS[0], False, b"abcde", "the element has 5 bytes, but the output has room for 4"),
        (BLOBS[0], True, b"abcde", [[97, 98, 99, 100]]),
        (CHAR_MAP, False, b"c?ab", [[[2, 0, 0]]]),
        (CHAR_MAP | {"unknown_value": 9}, False, b"b?\0a", [[[1, 9, 0]]]),
        (CHAR_MAP | {"emit_length": True}, False, b"?a", [[[0, 0, 0]], [2]]),
        (CHAR_MAP | {"alphabet": "Äß"}, False, "ßä".encode(), [[[1, 0, 0]]]),
        (CHAR_MAP, False, b"a\xff", "byte 1 is not UTF-8"),
        (
            LABEL_MAP | {"class_names": ["a", "b", "a"], "max_classes": 3},
            False,
            b" b\ta\n",
            [[1, 0, 0]],
        ),
        (LABEL_MAP | {"max_classes": 1}, True, b"a a", [[0, 0, 0, 0]]),
        (LABEL_MAP, False, b"A", "the class 'A' is not in class_names"),
    ],
)
def test_elements(settings: dict[str, Any], compat: bool, element: bytes, expected: Any) -> None:
    check(lambda: provided(made(settings, compat), element), expected)


@pytest.mark.parametrize(
    ("settings", "compat", "why"),
    [
        ({"type": "label", "output_type": "double"}, True, "undefined memory"),
        (LABEL_MAP, True, "max_classes is 100, but must be from 1 to 4"),
        (LABEL_MAP | {"max_classes": -1}, False, "max_classes is -1"),
        (AUDIO | {"feature_type": "mfcc", "num_cepstra": 65}, False, "num_cepstra"),
        (AUDIO | {"max_duration": "1 samples"}, False, "frame_length"),
    ],
)
def test_configurations_that_are_refused(settings: dict[str, Any], compat: bool, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        made(settings, compat)


def test_sounds() -> None:
    """A tone has its highest value at its frequency; a short sound ends with zeros."""
    times = np.arange(4000) / 16000
    tone = (np.sin(2 * np.pi * 4000 * times) * 9000).astype("<i2").tobytes()
    [[picture]] = provided(made(AUDIO), wave(tone))
    rows = np.array(picture)
    assert rows.shape == (201, 98) and not rows[:, 23:].any()
    assert (rows[:, :23].argmax(0) == 100).all() and rows[100, :23].min() > 250
    with pytest.raises(FormatError, match="the sound has 2 samples, but a frame has 400"):
        provided(made(AUDIO), wave(b"abcd"))


@pytest.mark.parametrize(
    "feature", [{"feature_type": "mfsc"}, {"feature_type": "mfcc", "num_filters": 41}], ids=str
)
def test_silence(feature: dict[str, Any]) -> None:
    """A logarithm of 0 has the value that OpenCV gave it; silence has no lowest value."""
    [[picture]] = provided(made(AUDIO | feature), wave(bytes(2000)))
    assert np.isfinite(picture).all()


def test_noise(folder: Path) -> None:
    (folder / "a.wav").write_bytes(wave(np.array([1, 2, 3], "<i2").tobytes()))
    (folder / "index").write_text("a.wav\n\n")
    samples = {
        "max_duration": "6 samples",
        "frame_length": "1 samples",
        "frame_stride": "1 samples",
    }
    settings = AUDIO | samples | {"feature_type": "samples", "output_type": "int16_t"}
    settings |= {"noise_index_file": "index"}
    loud = {"type": "audio", "add_noise_probability": 1.0, "noise_level": [10, 10]}
    sound = wave(np.array([0, 100, 32767, 0], "<i2").tobytes())
    [[[found]]] = provided(made(settings, augmentation=[loud]), sound)
    added = [found[0], found[1] - 100, found[3]]
    assert added[0] == added[2] and sorted(added[:2]) in ([10, 20], [20, 30], [10, 30])
    assert found[2] == 32767 and found[4:] == [0, 0]
    assert provided(made(settings), sound) == [[[[0, 100, 32767, 0, 0, 0]]]]
    (folder / "index").write_text("\n")
    with pytest.raises(FormatError, match="names no files"):
        made(settings)
