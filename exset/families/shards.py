"""Tables that are stored as shards for data loaders: WebDataset, TFRecord and MDS."""

from typing import Final

from exset.families.format import Format
from exset.families.option import LOSSY, Option
from exset.families.tables import TABLE

_FINDINGS: Final = (
    "exset.grammars.tables:tables.findings",
    "exset.grammars.tables:shards.findings",
)

_DAMAGED: Final = Option("damaged", "Skip damaged records of shards, and report them.")
_RAW: Final = Option(
    "raw", "Do not decode the records of a shard: read their bytes into a column `record`."
)
_SHARD_SIZE: Final = Option(
    "shard_size", "Limit each shard to this size, such as 64MB.", metavar="SIZE", default="64 MiB"
)
_COMPRESSION: Final = Option(
    "compression",
    "Compress each shard in this way.",
    choices=("zstd", "gz"),
    default="not compressed",
)

FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name="webdataset",
        title="WebDataset",
        family=TABLE,
        suffixes=(".tar", ".tgz"),
        options=(LOSSY,),
        binary=True,
        reader="exset.runtime.tables.webdataset:read",
        streamer="exset.runtime.tables.webdataset:stream",
        rereads=True,
        chunk_writer="exset.runtime.tables.shard_chunks:write_webdataset",
        has_sidecar=True,
        findings=_FINDINGS,
        strategy="exset.testing.shards:flat_tables",
    ),
    Format(
        name="tfrecord",
        title="TFRecord of tf.train.Example",
        family=TABLE,
        suffixes=(".tfrecord", ".tfrecords"),
        options=(LOSSY,),
        read_options=(_DAMAGED, _RAW),
        binary=True,
        reader="exset.runtime.tables.tfrecord:read",
        streamer="exset.runtime.tables.tfrecord:stream",
        rereads=True,
        chunk_writer="exset.runtime.tables.shard_chunks:write_tfrecord",
        has_sidecar=True,
        findings=_FINDINGS,
        strategy="exset.testing.shards:flat_tables",
    ),
    Format(
        name="mds",
        title="MDS of mosaicml-streaming",
        family=TABLE,
        suffixes=(),
        is_folder=True,
        contains=("shard.*.mds", "shard.*.mds.*"),
        options=(LOSSY, _SHARD_SIZE, _COMPRESSION),
        binary=True,
        reader="exset.runtime.tables.mds:read",
        streamer="exset.runtime.tables.mds:stream",
        writer="exset.runtime.tables.mds_write:write",
        findings=_FINDINGS,
        strategy="exset.testing.shards:flat_tables",
    ),
    Format(
        name="webdataset-shards",
        title="WebDataset in shards",
        family=TABLE,
        suffixes=(),
        is_folder=True,
        contains=("*.tar", "*.tar.gz", "*.tgz"),
        options=(LOSSY, _SHARD_SIZE),
        binary=True,
        reader="exset.runtime.tables.shards:read_webdataset",
        streamer="exset.runtime.tables.shards:stream_webdataset",
        writer="exset.runtime.tables.shards_write:write_webdataset",
        findings=_FINDINGS,
        strategy="exset.testing.shards:flat_tables",
    ),
    Format(
        name="tfrecord-shards",
        title="TFRecord in shards",
        family=TABLE,
        suffixes=(),
        is_folder=True,
        contains=("*.tfrecord", "*.tfrecords", "*.tfrecord-*-of-*", "*.tfrecord.gz"),
        options=(LOSSY, _SHARD_SIZE),
        read_options=(_DAMAGED, _RAW),
        binary=True,
        reader="exset.runtime.tables.shards:read_tfrecord",
        streamer="exset.runtime.tables.shards:stream_tfrecord",
        writer="exset.runtime.tables.shards_write:write_tfrecord",
        findings=_FINDINGS,
        strategy="exset.testing.shards:flat_tables",
    ),
)
