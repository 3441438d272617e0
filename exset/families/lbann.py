"""LBANN: sample lists, and schemas of HDF5 data."""

from typing import Final

from exset.families.family import Family
from exset.families.format import Format
from exset.families.option import ACCESS, LOSSY, Option, listed_option
from exset.families.signatures import any_of
from exset.grammars.lbann.list_types import Kind, Reader

SAMPLE_LISTS: Final = Family(
    name="lbann-list",
    noun="sample list",
    kind="exset.grammars.lbann.sample_list:SampleList",
    unit="sample",
    units="exset.grammars.lbann.units",
    summary="exset.runtime.lbann.report:sample_list",
    cells="exset.runtime.lbann.report:sample_cells",
    files="exset.runtime.lbann.list_files:check",
    fields=(
        ("file", "exset.runtime.lbann.list_fields:files"),
        ("id", "exset.runtime.lbann.list_fields:ids"),
    ),
    renames=(("file", "exset.runtime.lbann.list_fields:with_files"),),
    shuffle="exset.runtime.lbann.list_order:shuffled",
    dataset="exset.runtime.lbann.sample_reader:SampleReader",
    differences="exset.runtime.lbann.differences:sample_lists",
    pictures=(
        ("files", "exset.runtime.lbann.pictures:samples_of_files"),
        ("classes", "exset.runtime.lbann.pictures:classes"),
        ("fields", "exset.runtime.lbann.pictures:fields"),
    ),
    to_table="exset.runtime.lbann.table:to_table",
    table_layout="exset.runtime.lbann.table_chunks:layout_of",
    table_chunks="exset.runtime.lbann.table_chunks:tables_of",
    tables_open_files=True,
    from_table="exset.runtime.lbann.table_import:from_table",
    table_options=(
        Option(
            "data", "Read the HDF5 files of a sample list with this data schema.", metavar="FILE"
        ),
        Option(
            "experiment",
            "For each sample of a list, read the fields that this experiment schema selects.",
            metavar="FILE",
        ),
        listed_option("fields", "For each sample of a list, read only these fields."),
        Option("keep_packed", "Also keep the single fields that a schema packs into one field."),
        *ACCESS,
    ),
)

SCHEMA: Final = Family(
    name="schema",
    noun="schema",
    kind="exset.grammars.lbann.schema:Schema",
    unit="field",
    summary="exset.runtime.lbann.report:schema",
    cells="exset.runtime.lbann.report:field_cells",
    check="exset.runtime.lbann.directives:DirectiveCheck",
    differences="exset.runtime.lbann.differences:schemas",
)

_LIST_SIGNATURE: Final = (
    r"(?:\xef\xbb\xbf)?+[ \t\r\f\v]*+(?!\Z)(?i:"
    + any_of(*(kind.value.lower() for kind in Kind))
    + r")(?:[ \t\r\n\f\v]|\Z)"
)

# A line that is only a key, then a second such line or `metadata:`; between may be blank lines and
# comments. A Lens text may begin with one key (`name:`), but a useful one has no second such line.
_LINE_END = r"[ \t]*+(?:#[^\r\n\0]*+)?+(?:\r\n|\r|\n)"
_NO_LINES = rf"(?:{_LINE_END})*+"
_KEY = rf" *+[^\s:#{{\[\0][^\r\n:#\0]*+(?::(?=[^\s\0])[^\r\n:#\0]*+)*+:{_LINE_END}{_NO_LINES}"
_SCHEMA_SIGNATURE: Final = (
    rf"(?:\xef\xbb\xbf)?+{_NO_LINES}(?:---{_LINE_END}{_NO_LINES})?+"
    rf"(?:metadata:{_LINE_END}|{_KEY}(?:{_KEY}| *+metadata:|\Z))"
)

FORMATS: Final = (
    Format(
        name="sample_list",
        title="LBANN sample list",
        family=SAMPLE_LISTS,
        suffixes=(".sample_list",),
        signature=_LIST_SIGNATURE,
        reader="exset.parsers.lbann.sample_list:parse",
        streamer="exset.parsers.lbann.sample_list:stream",
        chunk_writer="exset.runtime.lbann.list_convert:write_chunks",
        options=(
            Option(
                "kind",
                "Write a sample list of this type, such as CONDUIT_HDF5_INCLUSION.",
                choices=tuple(kind.value for kind in Kind),
                metavar="TYPE",
                default="the type that was read",
            ),
            Option("expand", "Write integer ids one by one, without ranges."),
            Option(
                "labels",
                "Write the path of this label file into the sample list.",
                metavar="FILE",
                default="the label file that was read",
            ),
            Option(
                "base",
                "Resolve relative paths in the input from this folder.",
                metavar="FOLDER",
                default="the current folder",
            ),
            Option(
                "root",
                "Of the paths in the input, open only those in this folder.",
                metavar="FOLDER",
                default="any folder",
                untrusted=".",
            ),
            LOSSY,
        ),
        read_options=(
            Option(
                "ids",
                "Read the ids of a sample list as text or as integers.",
                choices=("text", "integer"),
                default="detected from the ids",
                attribute="has_integer_ids",
            ),
            Option(
                "reader",
                "Read a sample list as this LBANN reader does; hdf5: each line has a file and"
                " its ids; image: each line has only a file.",
                choices=tuple(reader.value for reader in Reader),
                default="chosen by the type in line 1",
            ),
        ),
        findings=(
            "exset.grammars.lbann:sample-lists.findings",
            "exset.grammars.lbann:lbann-tables.findings",
        ),
        repairs=("lbann-totals", "lbann-no-number"),
        canonical="exset.parsers.lbann.canonical_list:canonical",
        samples=(
            ("flowers.sample_list", "some samples of two HDF5 files"),
            ("molecules.sample_list", "a list whose ids are line numbers, in ranges"),
        ),
        strategy="exset.testing.lbann:sample_lists",
    ),
    Format(
        name="schema",
        title="LBANN schema of HDF5 data",
        family=SCHEMA,
        suffixes=(".yaml", ".yml"),
        signature=_SCHEMA_SIGNATURE,
        reader="exset.parsers.lbann.schema:parse",
        writer="exset.parsers.lbann.schema_text:render",
        canonical="exset.parsers.shared.canonical_yaml:canonical",
        findings=(
            "exset.grammars.lbann:schemas.findings",
            "exset.grammars.lbann:hdf5-files.findings",
        ),
        strategy="exset.testing.lbann:schemas",
    ),
)
