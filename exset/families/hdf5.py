"""HDF5 files, which exset reads and writes as tables."""

from typing import Final

from exset.families.format import Format
from exset.families.option import LOSSY, Option
from exset.families.tables import TABLE

_MAGIC: Final = b"\x89HDF\r\n\x1a\n"

_FINDINGS: Final = (
    "exset.grammars.tables:tables.findings",
    "exset.grammars.tables:hdf5.findings",
    "exset.grammars.lbann:hdf5-files.findings",
    "exset.grammars.lbann:lbann-tables.findings",
)

FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name="lbann_hdf5",
        title="HDF5 with a group for each sample, for LBANN",
        family=TABLE,
        suffixes=(".lbann.h5",),
        magic=_MAGIC,
        only_by_suffix=True,
        binary=True,
        may_crash=True,
        reader="exset.runtime.tables.hdf5_read:read_groups",
        streamer="exset.runtime.tables.hdf5_stream:stream_groups",
        rereads=True,
        writer="exset.runtime.lbann.table_files:write",
        companions="exset.runtime.lbann.table_files:companions",
        options=(LOSSY,),
        findings=_FINDINGS,
        strategy="exset.testing.hdf5:group_tables",
    ),
    Format(
        name="hdf5",
        title="HDF5",
        family=TABLE,
        suffixes=(".h5", ".hdf5", ".he5", ".nc"),
        magic=_MAGIC,
        binary=True,
        may_crash=True,
        maps=True,
        is_nested=True,
        reader="exset.runtime.tables.hdf5_read:read",
        streamer="exset.runtime.tables.hdf5_stream:stream",
        rereads=True,
        chunk_writer="exset.runtime.tables.hdf5:write_chunks",
        options=(
            Option(
                "compress", "In HDF5 files, compress datasets with the filters shuffle and gzip."
            ),
        ),
        read_options=(
            Option(
                "layout",
                "Read an HDF5 file as a table; rows: each dataset is a column; groups: each group"
                " is a row.",
                choices=("rows", "groups"),
                default="detected from the file",
            ),
        ),
        findings=_FINDINGS,
        strategy="exset.testing.tables:tables",
    ),
)
