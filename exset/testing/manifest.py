"""Hypothesis strategies for manifests, as odd as aeon's text allows."""

from hypothesis import strategies as st

from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect, ElementType

_NUMBERS = (
    *(b"0", b"-5", b"007", b" 12", b"+3", b"3.99", b"1e3", b"0x1F", b"12abc", b"1_000", b"5\r"),
    *(
        b"2147483647",
        b"2147483648",
        b"-2147483649",
        b"nan",
        b"-inf",
        b"1e400",
        b"1e-400",
        b".",
        b"",
    ),
    *(
        b"16777217",
        b"0x1.8p1",
        b"1,5",
        b"3.4e38",
        b"3.5e38",
        b"1e-45",
        b"nan(7)",
        b"99999999999999999",
    ),
)
_BASE64 = (
    b"",
    b"AAEC/w==",
    b"AAEC/w",
    b"Q",
    b"AA EC",
    b"====",
    b"QQ==QQ==",
    b"A=AA",
    b"QU\xc3\xa9D",
)


def fields(kind: ElementType, separator: bytes = b"\t") -> st.SearchStrategy[bytes]:
    """Fields of a type, those that aeon fails on too: any bytes but separators and line breaks."""
    usual = st.sampled_from(
        {
            ElementType.ASCII_INT: _NUMBERS,
            ElementType.ASCII_FLOAT: _NUMBERS,
            ElementType.BINARY: _BASE64,
        }.get(kind, (b"a.jpg", b"/b/c.txt", b"#1", b"@x", b"", b"\xc5\xbe \r", b"\0"))
    )
    odd = st.binary(max_size=6).map(lambda raw: raw.replace(separator, b"").replace(b"\n", b""))
    return usual | odd


@st.composite
def manifests(
    draw: st.DrawFn, *, dialect: Dialect | str | None = None, max_records: int = 6
) -> Manifest:
    """Manifests that text can say, in one dialect or in any."""
    chosen = draw(st.sampled_from(Dialect)) if dialect is None else Dialect(dialect)
    kinds = st.just(ElementType.FILE) if chosen is Dialect.CSV else st.sampled_from(ElementType)
    types = draw(st.lists(kinds, min_size=1, max_size=4))
    columns = [fields(kind, chosen.separator) for kind in types]
    record = st.tuples(*columns).filter(
        lambda row: row != (b"",) and row[0][:1] not in (b"#", b"@"[: chosen is not Dialect.CSV])
    )
    made = Manifest.of(types, draw(st.lists(record, max_size=max_records)), dialect=chosen)
    # Without a header, a text of no records has no types.
    return made if len(made) or chosen is not Dialect.CSV else Manifest.of((), (), dialect=chosen)
