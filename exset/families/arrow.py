"""Tables in files of Arrow data: Parquet, Feather and Arrow streams."""

from typing import Final

from exset.families.format import Format
from exset.families.tables import TABLE

_FINDINGS: Final = (
    "exset.grammars.tables:arrow.findings",
    "exset.grammars.tables:tables.findings",
)

FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name="parquet",
        title="Parquet file",
        family=TABLE,
        suffixes=(".parquet",),
        magic=b"PAR1",
        binary=True,
        is_nested=True,
        reader="exset.runtime.tables.parquet:read",
        streamer="exset.runtime.tables.parquet:stream",
        rereads=True,
        chunk_writer="exset.runtime.tables.parquet:write_chunks",
        needs="pyarrow",
        findings=_FINDINGS,
        strategy="exset.testing.tables:tables",
    ),
    Format(
        name="feather",
        title="Feather file",
        family=TABLE,
        suffixes=(".feather", ".arrow"),
        magic=b"ARROW1",
        binary=True,
        is_nested=True,
        reader="exset.runtime.tables.feather:read",
        streamer="exset.runtime.tables.feather:stream",
        rereads=True,
        chunk_writer="exset.runtime.tables.feather:write_chunks",
        needs="pyarrow",
        findings=_FINDINGS,
        strategy="exset.testing.tables:tables",
    ),
    Format(
        name="arrow-stream",
        title="Arrow stream",
        family=TABLE,
        suffixes=(".arrows",),
        magic=b"\xff\xff\xff\xff",
        binary=True,
        is_nested=True,
        reader="exset.runtime.tables.feather:read_stream",
        streamer="exset.runtime.tables.feather:stream_stream",
        rereads=True,
        chunk_writer="exset.runtime.tables.feather:write_stream_chunks",
        needs="pyarrow",
        findings=_FINDINGS,
        strategy="exset.testing.tables:tables",
    ),
)
