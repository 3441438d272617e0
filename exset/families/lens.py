"""Lens: example files, text and binary."""

from typing import Final

from exset.families.family import Family
from exset.families.format import Format
from exset.families.option import LOSSY, Option
from exset.families.signatures import any_of

_LAYOUTS: Final = tuple(
    Option(
        side,
        f"Set the number of units of the {side} in a table, or the size of each group: 20 or"
        f" A=9,B=2.",
        metavar="LAYOUT",
        default="up to the highest unit",
        parse="exset.runtime.lens.network_layout:layout_of_text",
    )
    for side in ("inputs", "targets")
)

LENS: Final = Family(
    name="lens",
    noun="example set",
    kind="exset.grammars.lens.examples:ExampleSet",
    unit="example",
    summary="exset.runtime.lens.report:SetTally",
    check="exset.runtime.lens.network_check:NetworkCheck",
    check_options=tuple(
        Option(
            side,
            f"Check that the {side} fit a network with this number of units, or with groups of"
            f" these sizes: 20 or A=9,B=2.",
            metavar="LAYOUT",
            parse="exset.runtime.lens.network_layout:layout_of_text",
        )
        for side in ("inputs", "targets")
    ),
    dataset="exset.runtime.lens.dataset:ExampleDataset",
    differences="exset.runtime.lens.differences:differences",
    pictures=(
        ("units", "exset.runtime.lens.pictures:units"),
        ("timeline", "exset.runtime.lens.pictures:timeline"),
        ("grid", "exset.runtime.lens.pictures:grid"),
        ("similarity", "exset.runtime.lens.pictures:similarity"),
        ("dendrogram", "exset.runtime.lens.pictures:dendrogram"),
        ("pca", "exset.runtime.lens.pictures:components"),
    ),
    to_table="exset.runtime.lens.table:to_table",
    from_table="exset.runtime.lens.from_table:from_table",
    table_options=(
        *_LAYOUTS,
        Option(
            "rows",
            "Make one row of a table for each event, or for each example.",
            choices=("event", "example"),
            default="event",
        ),
    ),
    model_options=_LAYOUTS,
    table_layout="exset.runtime.lens.table_layout:layout_of",
    table_chunks="exset.runtime.lens.table:tables_of",
    cells="exset.runtime.lens.report:cells",
    units="exset.grammars.lens.units",
    fields=(
        ("events", "exset.runtime.lens.edits:event_counts"),
        ("frequency", "exset.runtime.lens.edits:frequencies"),
    ),
    renames=(
        ("name", "exset.runtime.lens.edits:with_names"),
        ("group", "exset.runtime.lens.edits:with_groups"),
    ),
)

_FINDINGS: Final = ("exset.grammars.lens:lens.findings",)

# Lens reads every file without the magic as text. exset does so, too, unless the file is clearly
# something else; a NUL means a binary file. Possessive patterns match in linear time.
_COMMENT = r"(?:#[^\r\n\0]*+)?+"
_BLANK = rf"{_COMMENT}(?:[ \t\f\v]++|[\r\n]++{_COMMENT})*+"
_NUMBER = r"[-+]?+\d++(?![^\0]{0,15}+\0)"
_SIGNATURE: Final = (
    rf"(?:\xef\xbb\xbf)?+{_BLANK}(?:{_NUMBER}|[-+]\Z|"
    + any_of(
        *(";", "[", "name:", "proc:", "freq:", "max:", "min:", "grace:"),
        *("defI:", "defT:", "actI:", "actT:", "I:", "i:", "T:", "t:", "B:", "b:"),
    )
    + ")"
)

FORMATS: Final = (
    Format(
        name="ex",
        title="Lens example file, text",
        family=LENS,
        suffixes=(".ex",),
        signature=_SIGNATURE,
        reader="exset.parsers.lens.parse:parse",
        writer="exset.parsers.lens.render:render",
        options=(
            LOSSY,
            Option(
                "unshare",
                "Copy a list that several events share, if text cannot express the sharing.",
            ),
            Option("compact", "Write text with as few bytes as possible."),
        ),
        streamer="exset.parsers.lens.parse:stream",
        incremental_writer="exset.parsers.lens.render:Pieces",
        parts="exset.parsers.lens.parts",
        canonical="exset.parsers.lens.canonical:canonical",
        findings=_FINDINGS,
        samples=(
            ("xor.ex", "exclusive or, dense"),
            ("xor-sparse.ex", "the same with sparse inputs and targets"),
            ("xor-both.ex", "the same as an auto-encoder: the inputs are also the targets"),
            ("xor-events.ex", "the same with every other word of the format"),
            ("pulse.ex", "a time-varying set: many events, each with its own times"),
            ("groups.ex", "ranges that name the groups of a network"),
        ),
        strategy="exset.testing.lens:text_example_sets",
    ),
    Format(
        name="bex",
        title="Lens example file, binary",
        family=LENS,
        suffixes=(".bex",),
        magic=b"\xaa\xaa\xaa\xaa",
        binary=True,
        reader="exset.codecs.lens.bex:decode",
        writer="exset.codecs.lens.bex:encode",
        options=(LOSSY,),
        streamer="exset.codecs.lens.bex:stream",
        incremental_writer="exset.codecs.lens.bex:IncrementalEncoder",
        findings=_FINDINGS,
        samples=(("xor-binary.bex", "xor.ex as a binary file"),),
        strategy="exset.testing.lens:binary_example_sets",
    ),
)
