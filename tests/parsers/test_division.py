"""A text that several threads parse gives the values, findings and errors of one thread."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.core import threads
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.parsers.engine import division
from exset.parsers.engine.division import Sizes
from exset.parsers.lens import steps
from exset.parsers.lens.hints import hint
from exset.parsers.lens.tokens import GRAMMAR

PIECES = {
    "ex": [
        *("I: 1 T: 1;\n", "name: word I: 1 T: 1; I: (A) * T: 5-9;\n", "name: {a;\nb} I: 0 1;\n"),
        *("# comment;\n#;\n", "proc: {set x 1} 3 [1 proc: {y;\n}] I: 2 T: 1e400;\n", "T: 1;"),
        *("I: {nan} 1 T: {inf} 2;\r\n", "2 [0-1 freq: 3] I: 1 T: 1;\n", "name: {\\};\n; } I: 1;\n"),
        *(";\n", "max: 3 defI: -;\n", "7 2\n", "I: 1 five;\n", "name: {a\n", "3 [0-2] B: 1;\n"),
        *('name: "a;\n#;\n" t: 3;\n', "[5] I: 1;\n", "i: 9-1;\n", "20000000 I: 1;\n", "\n \n"),
    ],
    "manifest": [
        *("@FILE\tASCII_INT\n", "a\t1\n", "b.jpg\t-2\n", "\t\n", "# c\td\n", "\n\n", "a\n"),
        *("x\ty\tz\n", "ä\t1.5\n", "\xff\t2\r\n", "@STRING\n", "#\n#\n", "@BINARY\tFILE\n"),
    ],
    "sample_list": [
        *("CONDUIT_HDF5_INCLUSION\n3 0 2\n/data\n", "a.h5 2 0 x y\n", "b.h5 1 0 z\n", "\n"),
        *("c.h5 0 4\n", "a.h5 2 0 x x\n", "d.h5 9 0 7\n", " \t\n", "e 1\n", "g 1 -1 4\n"),
        *("f.smi 3 0 1 ... 3\n", "SINGLE-SAMPLE\n2\n/d\n", "h 99999999999999999999999 0\n"),
    ],
    "csv": [
        *("a,b:0,b:1\n", "1,2,3\n", "x,0.5,-7\n", '"x\n,y",1,"2"\n', ",,\n", "ä,1e9,1e-400\r\n"),
        *('"\n1,2,3\n",4,\n', "1,2\n", "\n", "\xff,1,2\n", '1,"2\n', "99999999999999999999,1,\n"),
        *(",,,,\n", '"a""\n",nan,inf\n', "007,+1,-0\r\n"),
    ],
    "ctf": [
        *("0 |a 1 2\n", "|a 3 4 |b 1:0.5\n", "1 |a 1-2\n", "|b\n", "|# a\n", "\n", "2 |a 1e400\n"),
        *("|a 1 |# b |b 7:1\n", "99999999999999999999 |a 1 2\n", "|a 1 2 3\n", "|a x\n", "\r\n"),
        *("1 |a 0.1 16777217\n", "|a 1 |a 2\n", "|b 1:2 3:4\n", "|a 2:1\n", "|b 9999999999:1\n"),
    ],
    "emergent": [
        *("_H:\t$Name\t%x[1:0]<1:2>\t%x[1:1]\n", "_D:\ta\t1\t2\n", "_D:\t\t\t\n"),
        "_D:\tb\tInf\t-1\n",
        *('_D:\t"a\n""b"\t"0"\t2\n', "\n", "_D:\tä\t1e-50\t0.1\n", "c\t1\t2\t3\n"),
        "\xff\t1\t2\t3\n",
        *("_D:\t1\t2\n", '_D:\t"a\t1\t2\n', "_D:\tx\tno\t0x1p-2\n", "\t\t\t\r\n"),
        "_D:\t1\t2\t3\t4\n",
    ],
    "mikenet": [
        *("TAG a\n;\n", "CLAMP I ALL FULL 1 2\n;\n", "TAG b;\nCLAMP I 0-2 FULL 3 4;5\n ;\n"),
        "; ; ;\n",
        *("TARGET O 3 SPARSE 1 ONVAL 2 0 ,\n;\n", "PROB 0.5\n", "TAG  ; \n"),
        "CLAMP I 1 FULL nan 2x\n",
        *("CLAMP I ALL FULL 1\n;\n", "SOFT_CLAMP\n", "TARGET O 5-1 FULL 0.1\n ;\n"),
        "INPUT I 2-ALL FULL d\n",
    ],
    "svmlight": [
        *("1 3:0.5 7:1\n", "-1 1:2 # 0:1\n", "\n", "1,2 2:1e400\n", "# a\n", "0 qid:1 1:1\n"),
        "3:1\n",
        *("1 0:1\n", "1 3:1 2:1\n", "x\n", "2 99999999999:1\n", "nan 1:inf\r\n", "1 1:16777217\n"),
    ],
}  # fmt: skip


@contextmanager
def divided(sizes: Sizes | None) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("grammar", "division", "whole"):
            patch.setattr(f"exset.parsers.engine.{module}.sizes_of", lambda *_: sizes)
        patch.setattr("exset.parsers.lbann.list_reading.COMPARED_BYTES", 0)
        yield


def outcome(fmt: str, data: bytes, engine: Engine, limits: Limits, strict: bool) -> object:
    """The value or all errors, the findings, and how many there are of each code."""
    findings = Findings(strict=strict)
    try:
        value: object = exset.loads(
            data, format=fmt, findings=findings, engine=engine, limits=limits
        )
    except exset.FormatError as error:
        value = [each.to_dict() for each in error.findings], error.findings.stopped
    shown = [(str(each), each.to_dict(), findings.count(each.code)) for each in findings]
    return value, shown


@st.composite
def texts(draw: st.DrawFn, fmt: str) -> bytes:
    """Records in some order, many of them with marks that end no record, maybe cut or damaged."""
    first, *others = PIECES[fmt]
    common = st.sampled_from(others[:4])
    pieces = draw(st.lists(common | st.sampled_from(others), min_size=1, max_size=40))
    text = "".join([first, *pieces]).encode("latin-1" if "\xff" in "".join(pieces) else "utf-8")
    cut = draw(st.none() | st.integers(0, len(text)))
    return text if cut is None else text[:cut] + draw(st.sampled_from([b"", b";", b"}", b"\n\t"]))


sizes = st.builds(
    Sizes,
    st.integers(1, 3),
    first=st.integers(1, 60),
    part=st.integers(1, 90),
    following=st.integers(1, 40),
)
limits = st.sampled_from([DEFAULT, DEFAULT, DEFAULT.with_(max_expand=5, max_events=3)])


@pytest.mark.parametrize("fmt", sorted(PIECES))
@given(st.data(), sizes, limits, st.booleans())
def test_threads_change_nothing(
    fmt: str, data: st.DataObject, sizes: Sizes, limits: Limits, strict: bool
) -> None:
    text = data.draw(texts(fmt))
    with divided(None):
        whole = outcome(fmt, text, "table", limits, strict)
        assert outcome(fmt, text, "reference", limits, strict) == whole
    with divided(sizes):
        assert outcome(fmt, text, "table", limits, strict) == whole


def parse(text: bytes, sizes: Sizes) -> list[tuple[bytes, bool]]:
    """The texts of the streams, and which of them threads parsed."""
    with divided(sizes):
        return [
            (text[int(stream.starts[0]) : int(stream.ends[-1])], bool(ready))
            for stream, ready in GRAMMAR.results(
                Source("x", text),
                "table",
                hint=hint,
                boundary=steps.EXAMPLE,
                work=lambda stream: bool(len(stream.kinds)),
            )
            if len(stream.kinds)
        ]


def test_parts_are_taken() -> None:
    streams = parse(b"I: 1;\n" * 40, Sizes(2, first=10, part=30, following=20))
    assert [ready for _, ready in streams] == [False, *[True] * 7]
    assert b"\n".join(text for text, _ in streams).split(b"\n") == [b"I: 1;"] * 40


def test_a_part_that_begins_in_a_string_is_parsed_again() -> None:
    plain = b"I: 1;\n" * 20
    text = plain + b"name: {" + b"a;\n" * 30 + b"} I: 1;\n" + plain
    streams = parse(text, Sizes(2, first=10, part=30, following=20))
    ready = [ready for _, ready in streams]
    assert ready[0] is False
    assert False in ready[1:]
    assert ready[-1] is True  # the next part was right again


def test_small_texts_are_not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.ENVIRONMENT, "4")
    assert division.sizes_of(Source("x", bytes(1 << 20))) is None
    large = division.sizes_of(Source("x", bytes(1 << 23)))
    assert large is not None and large.threads == 4 and large.part == 1 << 20
    monkeypatch.setenv(threads.ENVIRONMENT, "1")
    assert division.sizes_of(Source("x", bytes(1 << 23))) is None
