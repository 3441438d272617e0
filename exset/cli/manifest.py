"""`exset manifest`: build and balance manifests, and select records as aeon does."""

import os
from typing import TYPE_CHECKING, Any

import click

from exset.cli.commands import Group
from exset.cli.inputs import CommonOptions, reading_options_of, verbosity_options
from exset.cli.models import model_output, written
from exset.cli.options import Whole, option, options
from exset.cli.output import data_errors, usage_error
from exset.cli.paths import file_argument, one_file
from exset.cli.reports import Report
from exset.core.errors import Findings, Severity
from exset.io import files
from exset.io.access import is_folder

if TYPE_CHECKING:
    from exset.grammars.aeon.manifest import Manifest

FORMAT = "manifest"

selection_options = options(
    option(
        "--subset-fraction",
        metavar="F",
        type=float,
        default=1.0,
        help="Use only this fraction of the records, as aeon's subset_fraction (default: 1).",
    ),
    option(
        "--shuffle-manifest",
        is_flag=True,
        help="Put the records into a random order first, as aeon's shuffle_manifest.",
    ),
    option(
        "--random-seed",
        type=Whole(0, 2**32 - 1),
        default=0,
        help="Set the seed of --subset-fraction and --shuffle-manifest (default: 0).",
    ),
)
"""Add the options of aeon that select records of a manifest."""


@click.group(cls=Group)
def manifest() -> None:
    """Build and balance aeon manifests, and select records."""


@manifest.command()
@file_argument("path", "FOLDER|TABLE.csv")
@model_output(FORMAT)
@option(
    "--suffix",
    "suffixes",
    metavar=".EXT",
    multiple=True,
    help="Use only files with this suffix.",
)
@option(
    "--label",
    type=click.Choice(["ASCII_INT", "STRING"]),
    default="ASCII_INT",
    help="Write labels of this type (default: ASCII_INT).",
)
@option(
    "--types",
    metavar="[NAME:]TYPE,...",
    help="Give the types of a table's columns in order, or choose columns by name and type.",
)
@option(
    "--delimiter",
    metavar="CHARACTER",
    default=",",
    help="Set the delimiter of a table (default: comma).",
)
@option("--classes", metavar="FILE", help="Write the class names to this file.")
@verbosity_options
def build(
    path: str,
    output: str,
    suffixes: tuple[str, ...],
    label: str,
    types: str | None,
    delimiter: str,
    classes: str | None,
    **verbosity: bool,
) -> Report:
    """Build a manifest from a folder with one subfolder for each class, or from a table.

    \b
      exset manifest build pictures/ -o train.tsv --suffix .jpg --classes names
      exset manifest build table.csv -o train.tsv --types FILE,ASCII_INT
      exset manifest build table.csv -o train.tsv --types image:FILE,species:CLASS

    Paths in the manifest are relative to the folder: aeon needs it as manifest_root, and exset as
    --base. If --types names columns, the first line of the table contains their names. The type
    CLASS turns class names into numbers.
    """
    from exset.grammars.aeon.manifest_types import ElementType
    from exset.runtime.aeon.manifest_build import from_folder

    findings = Findings()
    if is_folder(path):
        if types is not None:
            usage_error("--types needs a table")
        lowered = [suffix.lower() for suffix in suffixes]
        records, names = from_folder(path, suffixes=lowered, label=ElementType(label))
    else:
        records, names = _from_table(path, types, delimiter, findings)
    report = written(records, FORMAT, output, findings)
    report.failed = findings.worst is Severity.ERROR
    if classes is not None:
        lines = "".join(f"{name}\n" for name in names)
        files.write(classes, lines.encode("utf-8", "surrogateescape"))
    return report


@manifest.command()
@one_file
@model_output(FORMAT)
@option(
    "--by",
    metavar="COLUMN",
    type=int,
    default=-1,
    help="Take the classes from this column, counted from 0 (default: the last).",
)
@option("--seed", type=Whole(0), help="Shuffle the records with this seed.")
@reading_options_of(FORMAT)
def balance(file: str, output: str, by: int, seed: int | None, common: CommonOptions) -> Report:
    """Repeat records of small classes until all classes have the same size.

    \b
      exset manifest balance train.tsv -o even.tsv
    """
    from exset.grammars.aeon.manifest import Manifest
    from exset.runtime.aeon.manifest_classes import balanced

    records = common.load_model(file, Manifest)
    with data_errors():
        records = balanced(records, by, seed=seed)
    return written(records, FORMAT, output, common.findings)


@manifest.command()
@one_file
@model_output(FORMAT)
@selection_options
@option(
    "--node",
    metavar="ID COUNT",
    type=(int, int),
    help="Select the records of node ID (from 0) of COUNT nodes.",
)
@option(
    "--batch-size",
    metavar="N",
    type=int,
    default=1,
    help="Set the batch size of each node (default: 1).",
)
@reading_options_of(FORMAT)
def pick(
    file: str,
    output: str,
    node: tuple[int, int] | None,
    batch_size: int,
    common: CommonOptions,
    **selection: Any,
) -> Report:
    """Write the records that aeon would use, in aeon's order.

    \b
      exset manifest pick train.tsv --subset-fraction 0.5 -o half.tsv
      exset manifest pick train.tsv --node 0 4 --batch-size 32 -o first.tsv

    exset reports the name of aeon's cache for these records. With another dialect (--from-dialect),
    the same seed selects other records.
    """
    from exset.grammars.aeon.manifest import Manifest
    from exset.runtime.aeon.selection import cache_name, node_rows, select_records

    records = common.load_model(file, Manifest)
    with data_errors():
        records, uid = select_records(records, **selection)
        if node is not None:
            records = records.select(node_rows(len(records), *node, batch_size))
    report = written(records, FORMAT, output, common.findings)
    cache = (
        cache_name(uid) if node is None else "none, because aeon with several nodes has no cache"
    )
    report.status = [*report.status, f"cache: {cache}"]
    return report


def _from_table(
    path: str, types: str | None, delimiter: str, findings: Findings
) -> "tuple[Manifest, tuple[str, ...]]":
    from exset.runtime.aeon.manifest_build import from_table

    if types is None and os.path.lexists(path):
        usage_error("a table needs the types of its columns, such as --types FILE,ASCII_INT")
    if len(delimiter) != 1:
        usage_error("--delimiter must be one character")
    pairs = [each.rpartition(":") for each in (types or "FILE").split(",")]
    columns = [(name if colon else None, kind) for name, colon, kind in pairs]
    with data_errors():
        return from_table(path, columns, delimiter=delimiter, findings=findings)
