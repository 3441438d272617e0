"""Hypothesis strategies for aeon's manifests and cache blocks, and for cpio archives."""

from hypothesis import strategies as st

from exset.grammars.aeon.block import MOST, Block
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect, ElementType

_TIMES = st.integers(0, MOST)
_DATA = st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"\0", b"x" * 65537]))
_NUMBERS = (
    b"0|-5|007| 12|+3|3.99|1e3|0x1F|12abc|1_000|5\r|2147483647|2147483648|-2147483649|nan|-inf"
    b"|1e400|1e-400|.||16777217|0x1.8p1|1,5|3.4e38|3.5e38|1e-45|nan(7)|99999999999999999"
).split(b"|")
_BASE64 = b"|AAEC/w==|AAEC/w|Q|AA EC|====|QQ==QQ==|A=AA|QU\xc3\xa9D".split(b"|")


@st.composite
def blocks(draw: st.DrawFn, *, max_records: int = 6, max_width: int = 4) -> Block:
    """Draw a cache block as aeon writes it: records of elements, with any time stamp."""
    width = draw(st.integers(1, max_width))
    record = st.lists(_DATA, min_size=width, max_size=width)
    return Block.of(draw(st.lists(record, max_size=max_records)), time=draw(_TIMES))


@st.composite
def archives(draw: st.DrawFn, *, max_files: int = 6) -> Block:
    """Draw a cpio archive of plain files, with any names except "" and `TRAILER!!!`."""
    names = st.binary(min_size=1, max_size=40).filter(lambda name: name != b"TRAILER!!!")
    files = st.lists(st.tuples(names, _DATA), max_size=max_files)
    return Block.archive(draw(files), time=draw(_TIMES))


def fields(kind: ElementType, separator: bytes = b"\t") -> st.SearchStrategy[bytes]:
    """Return a strategy for valid and invalid fields of a type.

    The fields contain no separators and no line breaks.
    """
    examples = st.sampled_from(
        {
            ElementType.ASCII_INT: _NUMBERS,
            ElementType.ASCII_FLOAT: _NUMBERS,
            ElementType.BINARY: _BASE64,
        }.get(kind, (b"a.jpg", b"/b/c.txt", b"#1", b"@x", b"", b"\xc5\xbe \r", b"\0"))
    )
    other = st.binary(max_size=6).map(lambda raw: raw.replace(separator, b"").replace(b"\n", b""))
    return examples | other


@st.composite
def manifests(
    draw: st.DrawFn, *, dialect: Dialect | str | None = None, max_records: int = 6
) -> Manifest:
    """Draw a manifest that can be written as text, in `dialect` or, by default, in any dialect."""
    chosen = draw(st.sampled_from(Dialect)) if dialect is None else Dialect(dialect)
    kinds = st.just(ElementType.FILE) if chosen is Dialect.CSV else st.sampled_from(ElementType)
    types = draw(st.lists(kinds, min_size=1, max_size=4))
    columns = [fields(kind, chosen.separator) for kind in types]
    record = st.tuples(*columns).filter(
        lambda row: row != (b"",) and row[0][:1] not in (b"#", b"@"[: chosen is not Dialect.CSV])
    )
    made = Manifest.of(types, draw(st.lists(record, max_size=max_records)), dialect=chosen)
    # Types cannot be read back from a text without a header and without records.
    return made if len(made) or chosen is not Dialect.CSV else Manifest.of((), (), dialect=chosen)
