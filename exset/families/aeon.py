"""aeon: manifests, cache blocks and cpio archives, loader configurations."""

from dataclasses import replace
from typing import Final

from exset.families.family import Family
from exset.families.format import Format
from exset.families.option import BASE, CONTENTS, LOSSY, ROOT, Option, listed_option
from exset.families.signatures import any_of
from exset.grammars.aeon.config.schema_types import DIALECTS
from exset.grammars.aeon.manifest_types import Dialect

_COLUMNS: Final = listed_option(
    "names", "Give these names to the columns of a table made from a manifest or a cache."
)

MANIFEST: Final = Family(
    name="aeon-manifest",
    noun="manifest",
    kind="exset.grammars.aeon.manifest:Manifest",
    unit="record",
    summary="exset.runtime.aeon.manifest_report:report",
    files="exset.runtime.aeon.manifest_files:check_files",
    fields=(("label", "exset.runtime.aeon.manifest_classes:label_fields"),),
    column="exset.runtime.aeon.manifest_classes:numbered_column",
    renames=(
        ("name", "exset.runtime.aeon.manifest_classes:with_names"),
        ("label", "exset.runtime.aeon.manifest_classes:with_labels"),
    ),
    labels="exset.runtime.aeon.manifest_classes:labels",
    dataset="exset.runtime.aeon.manifest_dataset:ManifestDataset",
    differences="exset.runtime.aeon.differences:manifests",
    pictures=(
        ("classes", "exset.runtime.aeon.pictures:classes"),
        ("images", "exset.runtime.aeon.pictures:manifest_images"),
    ),
    to_table="exset.runtime.aeon.table:to_table",
    table_layout="exset.runtime.aeon.table_chunks:layout_of",
    table_chunks="exset.runtime.aeon.table_chunks:tables_of",
    tables_open_files=True,
    from_table="exset.runtime.aeon.table_import:from_table",
    table_options=(_COLUMNS, CONTENTS, BASE, ROOT),
    model_options=(
        listed_option("files", "Write these columns of a table as paths of files (type FILE)."),
        Option(
            "files_to",
            "Save bytes in a table as files in this new folder.",
            metavar="FOLDER",
            default="as base64 in the manifest",
            is_new_folder=True,
        ),
    ),
    cells="exset.runtime.aeon.manifest_report:cells",
    units="exset.grammars.aeon.units",
)

BLOCKS: Final = Family(
    name="cpio",
    noun="block",
    kind="exset.grammars.aeon.block:Block",
    unit="record",
    summary="exset.runtime.aeon.block_report:BlockTally",
    dataset="exset.runtime.aeon.cache_dataset:CacheDataset",
    folder="exset.runtime.aeon.cache:Cache",
    pictures=(("images", "exset.runtime.aeon.pictures:block_images"),),
    to_table="exset.runtime.aeon.block_table:to_table",
    table_options=(
        _COLUMNS,
        Option(
            "types",
            "Read the elements of a cache as these types, such as FILE,ASCII_INT.",
            metavar="TYPE,...",
            default="BINARY",
        ),
    ),
    differences="exset.runtime.aeon.differences:blocks",
    has_partial_formats=True,
)

CONFIG: Final = Family(
    name="aeon-config",
    noun="loader configuration",
    kind="exset.grammars.aeon.config.model:LoaderConfig",
    unit="etl object",
    summary="exset.runtime.aeon.config_report:report",
    cells="exset.runtime.aeon.config_report:cells",
    files="exset.runtime.aeon.config_files:check_files",
    dataset="exset.runtime.aeon.provision.dataset:LoaderDataset",
    differences="exset.runtime.aeon.differences:configs",
    pictures=(("images", "exset.runtime.aeon.pictures:loader_images"),),
)

_WRITE_DIALECT: Final = (
    "Write a manifest or loader configuration for this version of aeon: head (2020), seed (April"
    " 2017), csv (manifests only: older), between (configurations only: 2017 to 2020), or habana"
    " (configurations only: Habana's fork)."
)
_DIALECTS: Final = tuple(dialect.value for dialect in Dialect)
_READ_DIALECT: Final = (
    "Read a manifest or loader configuration as this version of aeon does: head (2020), seed (April"
    " 2017), csv (manifests only: older), between (configurations only: 2017 to 2020), or habana"
    " (configurations only: Habana's fork)."
)

# A header; a manifest without a header is detected only by its suffix.
_MANIFEST_SIGNATURE: Final = (
    r"(?:\xef\xbb\xbf)?+(?:#[^\n\0]*+\n|\n)*+@"
    + any_of("FILE", "BINARY", "STRING", "ASCII_INT", "ASCII_FLOAT")
    + r"(?:[ \t\r\n]|\Z)"
)

# An archive entry of 64 bytes named cpiohdr, and its first bytes; the user id may be any.
_BLOCK_SIGNATURE: Final = r"(?s:.{20}+\x08\x00\x00\x00\x40\x00cpiohdr\x00MACR)"

# A JSON object whose first member is one that some version of aeon knows in a configuration.
_CONFIG_MEMBERS = (
    *("manifest_filename", "manifest_root", "batch_size", "cache_directory", "block_size", "etl"),
    *("subset_fraction", "shuffle_enable", "shuffle_manifest", "single_thread", "pinned"),
    *("random_seed", "iteration_mode", "iteration_mode_count", "augmentation", "batch_major"),
    *("cpu_list", "node_id", "node_count", "ssd_config", "decode_thread_count", "web_server_port"),
    *("fread_thread_count", "file_shuffle_seed", "num_instances", "minibatch_size"),
    *("macrobatch_size", "augment", "shuffle_every_epoch"),
)
_CONFIG_SIGNATURE: Final = r"(?:\xef\xbb\xbf)?+[ \t\r\n]*+\{[ \t\r\n]*+" + any_of(
    *(f'"{name}"' for name in _CONFIG_MEMBERS)
)

_BLOCK: Final = Format(
    name="block",
    title="aeon cache block",
    family=BLOCKS,
    suffixes=(".cpio",),
    magic=b"\xc7\x71",
    signature=_BLOCK_SIGNATURE,
    binary=True,
    maps=True,
    reader="exset.codecs.aeon.cpio:decode",
    writer="exset.runtime.aeon.block_write:write",
    takes=(MANIFEST,),
    options=(BASE, ROOT, LOSSY),
    findings=("exset.grammars.aeon:caches.findings",),
    strategy="exset.testing.aeon:blocks",
)

FORMATS: Final = (
    Format(
        name="manifest",
        title="aeon manifest",
        family=MANIFEST,
        suffixes=(".tsv", ".csv"),
        signature=_MANIFEST_SIGNATURE,
        reader="exset.parsers.aeon.manifest:parse",
        streamer="exset.parsers.aeon.manifest:stream",
        writer="exset.runtime.aeon.manifest_write:write",
        canonical="exset.parsers.aeon.canonical_manifest:canonical",
        takes=(BLOCKS,),
        options=(
            Option("dialect", _WRITE_DIALECT, _DIALECTS, default="the version that was read"),
            LOSSY,
        ),
        read_options=(
            Option(
                "dialect",
                _READ_DIALECT,
                _DIALECTS,
                default="detected from the file",
                attribute="dialect",
            ),
        ),
        findings=(
            "exset.grammars.aeon:manifests.findings",
            "exset.grammars.aeon:manifest-tables.findings",
        ),
        samples=(
            ("pictures.tsv", "pictures, and the class of each"),
            ("captions.tsv", "texts and numbers: a manifest that needs no files"),
        ),
        strategy="exset.testing.aeon:manifests",
    ),
    _BLOCK,
    replace(
        _BLOCK,
        name="cpio",
        title="cpio archive, old binary format",
        signature=None,
        reader="exset.codecs.aeon.cpio:decode_archive",
        writer="exset.codecs.aeon.cpio_write:encode_archive",
        takes=(),
        options=(LOSSY,),
        strategy="exset.testing.aeon:archives",
    ),
    Format(
        name="cache",
        title="aeon cache",
        family=BLOCKS,
        suffixes=(),
        is_folder=True,
        contains=("cache_complete", "block_[0-9]*.cpio", "[0-9]*-[0-9]*.cpio"),
        binary=True,
        reader="exset.runtime.aeon.cache_read:read",
        writer=None,
        parts="exset.runtime.aeon.cache_parts",
        findings=("exset.grammars.aeon:caches.findings",),
        strategy="exset.testing.aeon:blocks",
    ),
    Format(
        name="loader_config",
        title="aeon loader configuration",
        family=CONFIG,
        suffixes=(".json",),
        signature=_CONFIG_SIGNATURE,
        reader="exset.parsers.aeon.config:parse",
        writer="exset.parsers.aeon.config:render",
        canonical="exset.parsers.aeon.config:canonical",
        options=(
            Option("dialect", _WRITE_DIALECT, DIALECTS, default="the version that was read"),
            Option("compact", "Write text with as few bytes as possible."),
            LOSSY,
        ),
        read_options=(
            Option("dialect", _READ_DIALECT, DIALECTS, default="detected from the file"),
        ),
        findings=(
            "exset.grammars.aeon.config:configs.findings",
            "exset.grammars.aeon:media.findings",
        ),
        samples=(("pictures.json", "the loader configuration that reads pictures.tsv"),),
        strategy="exset.testing.configs:loader_configs",
    ),
)
