"""Hypothesis strategies for aeon's cache blocks, and for cpio archives."""

from hypothesis import strategies as st

from exset.grammars.aeon.block import MOST, Block

_TIMES = st.integers(0, MOST)
_DATA = st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"\0", b"x" * 65537]))


@st.composite
def blocks(draw: st.DrawFn, *, max_records: int = 6, max_width: int = 4) -> Block:
    """Blocks as aeon writes them: records of elements, at any time."""
    width = draw(st.integers(1, max_width))
    record = st.lists(_DATA, min_size=width, max_size=width)
    return Block.of(draw(st.lists(record, max_size=max_records)), time=draw(_TIMES))


@st.composite
def archives(draw: st.DrawFn, *, max_files: int = 6) -> Block:
    """Archives of plain files, whose names are any bytes except `TRAILER!!!`, and not empty."""
    names = st.binary(min_size=1, max_size=40).filter(lambda name: name != b"TRAILER!!!")
    files = st.lists(st.tuples(names, _DATA), max_size=max_files)
    return Block.archive(draw(files), time=draw(_TIMES))
