"""A Lens text is the same set in however many parts it is read, compiled or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.normal_form import normal_form
from exset.parsers.lens.parse import parse
from exset.parsers.lens.render import render
from exset.testing import example_sets

ODD = b"""\
max: 1e999 actT: 0.5 grace:-nan
;
name:{two
# a comment
lines} 2 T: (a) 1 I: {b 2} 3 4-6 (a) 1.5.5 I: (b) - T: 2;
name:b; proc:{} t: 1 ( na ) 2 i: {nan 7} 3;
3 [0 2 max:-nan proc:{x}] [1] T: 1 [0 2] B: {c 1e} 2 [1] I: 0x1p1 1e;
name:b; name:{} I: T: 3 (nan) 4; I: (b 3) { } * ; freq: -2 b: {a} 1-3 ;
"""


def read(data: bytes, tokens: int, engine: Engine) -> tuple[ExampleSet, list[str], int]:
    """The set, its findings and how many there are, with room for so many tokens at first."""
    findings = Findings()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exset.parsers.lens.parse._TOKENS", tokens)
        examples = parse(Source("test", data), findings=findings, engine=engine)
    return examples, sorted(map(str, findings)), findings.count()


@given(example_sets(text=True, binary=False), st.booleans())
def test_a_text_in_parts(examples: ExampleSet, compiled: bool) -> None:
    engine: Engine = "table" if compiled else "auto"
    assert read(render(examples), 1, engine) == read(render(examples), 1 << 10, engine)


@pytest.mark.parametrize("engine", ["auto", "table"])
def test_odd_texts_in_parts(engine: Engine) -> None:
    whole = read(ODD, 1 << 10, engine)
    assert read(ODD, 1, engine) == whole == read(ODD, 1 << 10, "reference")
    assert whole[0] == normal_form(whole[0])
    assert len(whole[0].groups) == len(set(whole[0].groups))


def test_lists_are_put_in_order() -> None:
    [examples, *_] = read(b";2 T: (a) 1 2 I: {b 2} 3 4-6 t: 3 i: {c} *;\nT: 1 I: 2;\n", 9, "table")
    assert examples.events.inputs.tolist() == [0, 1, 4]
    assert examples.events.targets.tolist() == [2, 3, 5]
    assert list(examples.groups) == [b"b", b"c", b"a"]
    values, units = examples.ranges.values, examples.ranges.units
    assert values.values.tolist() == [1, 2, 2, 1]
    assert values.offsets.tolist() == [0, 0, 0, 2, 2, 3, 4]
    assert units.values.tolist() == [3, 4, -6, -1, 3]
    assert units.offsets.tolist() == [0, 3, 4, 4, 5, 5, 5]
    assert examples.ranges.group.tolist() == [0, 1, 2, -1, -1, -1]


def test_what_is_absent_takes_no_space() -> None:
    [examples, *_] = read(b"".join(b"i: %d t: %d;\n" % (n, n) for n in range(99)), 1, "auto")
    ranges, events = examples.ranges, examples.events
    for column in (
        examples.frequency,
        examples.name.present,
        examples.proc.offsets,
        events.proc.present,
        events.max_time.values,
        ranges.group,
        ranges.first,
        ranges.value,
        ranges.values.offsets,
    ):
        assert column.strides == (0,)
    assert np.array_equal(examples.event_offsets, np.arange(100))
