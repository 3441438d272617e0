"""Tables, and the file formats in which other tools store them."""

from dataclasses import replace
from typing import Final

from exset.families.family import Family
from exset.families.format import Format
from exset.families.option import LOSSY

TABLE: Final = Family(
    name="table",
    noun="table",
    kind="exset.grammars.tables.table:Table",
    unit="row",
    summary="exset.runtime.tables.report:report",
    differences="exset.runtime.tables.differences:differences",
    pictures=(
        ("units", "exset.runtime.tables.pictures:units"),
        ("grid", "exset.runtime.tables.pictures:grid"),
        ("similarity", "exset.runtime.tables.pictures:similarity"),
        ("dendrogram", "exset.runtime.tables.pictures:dendrogram"),
        ("pca", "exset.runtime.tables.pictures:components"),
        ("classes", "exset.runtime.tables.pictures:classes"),
    ),
    dataset="exset.runtime.tables.dataset:TableDataset",
    units="exset.grammars.tables.units",
    column="exset.runtime.tables.edits:values_of",
    renames=(("column", "exset.runtime.tables.edits:with_columns"),),
    has_partial_formats=True,
)

_FINDINGS: Final = ("exset.grammars.tables:tables.findings",)

# A ZIP archive whose first member is an NPY file: the name follows 30 bytes.
_NPZ_SIGNATURE: Final = r"(?s:.{30}+(?:[^.\0]*+\.(?!npy))*+[^.\0]*+(?:\.npy|\Z))"

_CSV: Final = Format(
    name="csv",
    title="table of text, with commas",
    family=TABLE,
    suffixes=(".csv",),
    recogniser="exset.parsers.tables.csv_header:is_table",
    reader="exset.parsers.tables.csv:parse",
    streamer="exset.parsers.tables.csv_stream:stream",
    rereads=True,
    chunk_writer="exset.parsers.tables.csv_write:write_chunks",
    has_sidecar=True,
    options=(LOSSY,),
    findings=("exset.grammars.tables:csv.findings", *_FINDINGS),
    strategy="exset.testing.tables:texts",
)

FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name="npz",
        title="NumPy arrays",
        family=TABLE,
        suffixes=(".npz",),
        magic=b"PK\x03\x04",
        signature=_NPZ_SIGNATURE,
        binary=True,
        is_nested=True,
        reader="exset.runtime.tables.npz:read",
        streamer="exset.runtime.tables.npz_stream:stream",
        rereads=True,
        chunk_writer="exset.runtime.tables.npz_write:write_chunks",
        findings=_FINDINGS,
        strategy="exset.testing.tables:tables",
    ),
    Format(
        name="npy",
        title="NumPy array",
        family=TABLE,
        suffixes=(".npy",),
        magic=b"\x93NUMPY",
        binary=True,
        reader="exset.runtime.tables.npz:read_array",
        streamer="exset.runtime.tables.npz_stream:stream_array",
        rereads=True,
        chunk_writer="exset.runtime.tables.npz_write:write_array_chunks",
        options=(LOSSY,),
        findings=_FINDINGS,
        strategy="exset.testing.tables:arrays",
    ),
    _CSV,
    replace(
        _CSV,
        name="tsv",
        title="table of text, with tabs",
        suffixes=(".tsv",),
        chunk_writer="exset.parsers.tables.csv_write:write_tab_chunks",
    ),
    Format(
        name="jsonl",
        title="JSON Lines",
        family=TABLE,
        suffixes=(".jsonl", ".ndjson"),
        signature=r"\s*+\{[^\n]++(?<=[}\r])\n\s*+\{",
        reader="exset.parsers.tables.jsonl:parse",
        chunk_writer="exset.parsers.tables.jsonl_write:write_chunks",
        has_sidecar=True,
        options=(LOSSY,),
        findings=("exset.grammars.tables:jsonl.findings", *_FINDINGS),
        strategy="exset.testing.tables:texts",
    ),
)
