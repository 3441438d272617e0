"""`exset manifest`: make aeon's manifests, balance them, and pick records as aeon does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from exset import formats
from exset.cli import models
from exset.cli.common import say, wrong
from exset.cli.inputs import Reading, file_argument, one_file, reading_options, voice_options
from exset.core.errors import Findings
from exset.io import files

if TYPE_CHECKING:
    from exset.grammars.aeon.manifest import Manifest

FORMAT = "manifest"
_SHOWN = 3


@click.group()
def manifest() -> None:
    """Make and balance aeon's manifests, pick records as aeon does."""


@manifest.command()
@file_argument("path", "FOLDER|TABLE.csv")
@models.output_option(FORMAT)
@click.option("--suffix", "suffixes", metavar=".EXT", multiple=True, help="Take such files alone.")
@click.option(
    "--label", type=click.Choice(["ASCII_INT", "STRING"]), default="ASCII_INT", help="Its type."
)
@click.option("--types", metavar="[NAME:]TYPE,...", help="The columns of a table to take.")
@click.option("--delimiter", metavar="CHARACTER", default=",", help="Of a table (a comma).")
@click.option(
    "--classes", metavar="FILE", help="Write the names of the classes there, a line each."
)
@voice_options
def build(
    path: str,
    output: str,
    suffixes: tuple[str, ...],
    label: str,
    types: str | None,
    delimiter: str,
    classes: str | None,
    voice: int,
) -> None:
    """Make a manifest of folders, one for each class, or of a table.

    \b
      exset manifest build pictures/ -o train.tsv --suffix .jpg --classes names
      exset manifest build table.csv -o train.tsv --types FILE,ASCII_INT
      exset manifest build table.csv -o train.tsv --types image:FILE,species:CLASS

    Paths count from the folder, so it is to be the manifest_root. Where columns have names, the
    table's first line has them. The type CLASS numbers names of classes.
    """
    from exset.grammars.aeon.manifest_types import ElementType
    from exset.runtime.aeon.manifest_build import from_folder, from_table

    if os.path.isdir(path):
        if types is not None:
            wrong("--types goes with a table")
        lowered = [suffix.lower() for suffix in suffixes]
        built = from_folder(path, suffixes=lowered, label=ElementType(label))
    else:
        if types is None and os.path.lexists(path):
            wrong("say --types of the table's columns, such as FILE,ASCII_INT")
        pairs = [each.rpartition(":") for each in (types or "FILE").split(",")]
        if len(delimiter) != 1:
            wrong("a delimiter is one character")
        try:
            wanted = [(name if colon else None, kind) for name, colon, kind in pairs]
            built = from_table(path, wanted, delimiter=delimiter)
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            wrong(str(error))
    _write(built.manifest, output, Findings(), voice)
    if classes is not None:
        names = "".join(f"{name}\n" for name in built.classes)
        files.write(classes, names.encode("utf-8", "surrogateescape"))


@manifest.command()
@one_file
@models.output_option(FORMAT)
@click.option("--by", metavar="COLUMN", type=int, default=-1, help="The class (the last column).")
@click.option("--seed", metavar="N", type=click.IntRange(min=0), help="Shuffle the records, too.")
@reading_options
def balance(
    file: str,
    output: str,
    by: int,
    seed: int | None,
    reading: Reading,
) -> None:
    """Repeat records of small classes until all classes have as many.

    \b
      exset manifest balance train.tsv -o even.tsv
    """
    from exset.runtime.aeon.manifest_classes import balanced

    findings = reading.findings()
    read = _read(file, reading, findings)
    try:
        made = balanced(read, by, seed=seed)
    except ValueError as error:
        wrong(str(error))
    _write(made, output, findings, reading.voice)


@manifest.command()
@one_file
@models.output_option(FORMAT)
@click.option("--subset-fraction", metavar="F", type=float, default=1.0, help="Of aeon's options.")
@click.option("--shuffle-manifest", is_flag=True, help="Of aeon's options.")
@click.option(
    "--random-seed", metavar="N", type=click.IntRange(0, 2**32 - 1), default=0, help="As well."
)
@click.option("--node", metavar="ID COUNT", type=(int, int), help="What one of several nodes gets.")
@click.option("--batch-size", metavar="N", type=int, default=1, help="Of the nodes.")
@reading_options
def pick(
    file: str,
    output: str,
    subset_fraction: float,
    shuffle_manifest: bool,
    random_seed: int,
    node: tuple[int, int] | None,
    batch_size: int,
    reading: Reading,
) -> None:
    """Write the records that aeon would use, in its order.

    \b
      exset manifest pick train.tsv --subset-fraction 0.5 -o half.tsv
      exset manifest pick train.tsv --node 0 4 --batch-size 32 -o first.tsv

    The cache that it would look for is told. What a seed gives depends on the dialect, which
    --from-dialect says.
    """
    from exset.runtime.aeon.selection import cache_name, node_rows, picked

    findings = reading.findings()
    read = _read(file, reading, findings)
    try:
        made, uid = picked(
            read,
            subset_fraction=subset_fraction,
            shuffle_manifest=shuffle_manifest,
            random_seed=random_seed,
        )
        if node is not None:
            made = made.select(node_rows(len(made), *node, batch_size))
    except ValueError as error:
        wrong(str(error))
    _write(made, output, findings, reading.voice)
    told = cache_name(uid) if node is None else "aeon uses none with several nodes"
    if reading.voice >= 0:
        say(f"cache: {told}")


def _read(path: str, reading: Reading, findings: Findings) -> Manifest:
    from exset.grammars.aeon.manifest import Manifest

    return models.read(path, Manifest, reading, findings)


def _write(made: Manifest, output: str, findings: Findings, voice: int) -> None:
    said = formats.get(FORMAT).family.counted(len(made))
    models.write(made, FORMAT, output, findings, shown=_SHOWN, said=said, voice=voice)
