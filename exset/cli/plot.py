"""`exset plot`: draw a picture of a file."""

from dataclasses import replace

import click

from exset.cli.commands import Command
from exset.cli.inputs import CommonOptions, access_options, base_option, reading_options
from exset.cli.options import Whole, option, secondary_option
from exset.cli.output import data_errors, usage_error
from exset.cli.paths import one_file
from exset.cli.plot_options import batch_options
from exset.cli.reports import Report, json_option
from exset.cli.units import chosen_units, layout_of
from exset.core.errors import with_source_name
from exset.core.text import safe

PICTURES = ("units", "timeline", "grid", "similarity", "dendrogram", "pca")
"""The pictures that show numbers."""
OTHERS = ("classes", "images", "files", "fields", "batches")

_PIXELS = 2_000


@click.command(cls=Command)
@one_file
@option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    help="Write the picture to this file: .png, .svg or .pdf.",
)
@option(
    "--picture",
    type=click.Choice([*PICTURES, *OTHERS]),
    metavar="NAME",
    help=f"Draw this kind of picture: {', '.join(PICTURES)}; {', '.join(OTHERS[:-1])} or"
    f" {OTHERS[-1]}.",
)
@option(
    "-e",
    "--examples",
    "chosen",
    metavar="WHICH",
    multiple=True,
    help="Draw only these examples or records: an index from 0, a slice START:STOP:STEP, or a"
    " pattern of names.",
)
@option("--grid", metavar="HxW", help="Draw each pattern as a picture with H rows of W units.")
@option(
    "--inputs",
    metavar="GROUP=SIZE",
    multiple=True,
    help="Give names and sizes of the input groups, in order.",
)
@option(
    "--targets",
    metavar="GROUP=SIZE",
    multiple=True,
    help="Give names and sizes of the target groups, in order.",
)
@option("--column", metavar="NAME", help="Take classes, images or numbers from this column.")
@secondary_option(
    "--side",
    type=click.Choice(["inputs", "targets"]),
    help="Draw the patterns of the inputs (default) or of the targets.",
)
@secondary_option("--ticks", type=Whole(1), help="Draw N ticks for each unit of time.")
@secondary_option(
    "--pixels",
    type=Whole(200, 20_000),
    default=_PIXELS,
    help="Limit the width and height of the picture to N pixels (default: 2000).",
)
@batch_options
@json_option("picture", "note", "counts", "findings", file="file", output="output")
@base_option
@access_options
@reading_options
def plot(
    file: str,
    output: str,
    picture: str | None,
    chosen: tuple[str, ...],
    grid: str | None,
    inputs: tuple[str, ...],
    targets: tuple[str, ...],
    column: str | None,
    side: str | None,
    ticks: int | None,
    pixels: int,
    width: int | None,
    samples: int | None,
    sampler: str,
    seed: int,
    base: str,
    common: CommonOptions,
) -> Report:
    """Draw a file as a picture.

    \b
      exset plot train.ex -o train.png
      exset plot train.ex -o some.pdf -e 0:5 -e "ba*"
      exset plot digits.ex -o digits.png --grid 8x8
      exset plot train.ex -o tree.svg --picture dendrogram --side targets
      exset plot pictures.tsv -o sheet.png --picture images
      exset plot speakers.csv -o plan.png --picture batches -n 8 -m 4

    By default, exset draws a heat map (units) of an example set or table, the classes of a
    manifest, the images of a cache or a loader configuration, and the files of a sample list. By
    default, a group is as large as the highest unit that the file uses. A picture may show only the
    first examples or records. Plots need matplotlib: pip install 'exset[plot]'.
    """
    from exset.plotting import BATCHES, BatchOptions, of_batches, of_model, title_of
    from exset.runtime.pictures import drawing
    from exset.runtime.pictures.options import PictureOptions

    drawing.suffix(output)
    how = PictureOptions(
        name=file,
        inputs=layout_of("inputs", inputs),
        targets=layout_of("targets", targets),
        side=side,
        ticks=ticks,
        grid=_size(grid),
        column=column,
        base=base,
        access=common.access,
        **common.reading,
    )
    if picture == BATCHES:
        if width is None or samples is None:
            usage_error("--picture batches needs -n and -m")
        with data_errors():
            made = of_batches(file, how, BatchOptions(width, samples, sampler, seed))
    else:
        loaded = common.load(file)
        for finding in loaded.findings:
            common.findings.add(finding)
        how = replace(how, which=chosen_units(loaded.model, chosen))
        with data_errors(ImportError), with_source_name(file):
            made = of_model(loaded.model, picture or ("grid" if grid else None), how)
    with data_errors(ImportError):
        drawing.write(made, output, title_of(file), pixels)
    note = made.note and f", {made.note}"
    if note and not chosen and picture != BATCHES:
        note += " (--examples selects)"
    values = {"picture": made.heading, "note": made.note or None}
    status = [f"{safe(output)}: {safe(made.heading)}{safe(note)}"]
    return Report(values, common.findings, status=status, shown=1)


def _size(grid: str | None) -> tuple[int, int] | None:
    """Return the height and width that a text such as `8x8` gives.

    Raises UsageError for another text.
    """
    if grid is None:
        return None
    height, cross, width = grid.lower().partition("x")
    if not (cross and height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        usage_error(f"--grid {grid} is not of the form HEIGHTxWIDTH, such as 8x8")
    return int(height), int(width)
