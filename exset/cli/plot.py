"""`exset plot`: draw a picture of examples."""

from typing import TYPE_CHECKING

import click

from exset.cli.commands import Command
from exset.cli.inputs import CommonOptions, reading_options
from exset.cli.options import Whole, option, secondary_option
from exset.cli.output import data_errors
from exset.cli.paths import one_file
from exset.cli.reports import Report, json_option
from exset.cli.units import chosen_units, layout_of
from exset.core.errors import with_source_name
from exset.core.text import safe
from exset.families.lens import LENS

if TYPE_CHECKING:
    pass


@click.command(cls=Command)
@one_file
@option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    help="Write to this file: .png, .svg, .pdf.",
)
@option(
    "-e",
    "--examples",
    "chosen",
    metavar="WHICH",
    multiple=True,
    help="Draw these examples: an index from 0, a slice START:STOP:STEP, or a pattern of names.",
)
@option(
    "--inputs",
    metavar="GROUP=SIZE",
    multiple=True,
    help="Give the names and sizes of the input groups, in order.",
)
@option(
    "--targets",
    metavar="GROUP=SIZE",
    multiple=True,
    help="Give the names and sizes of the target groups, in order.",
)
@secondary_option("--ticks", type=Whole(1), help="Draw one row per tick: N ticks per unit of time.")
@json_option("examples", "counts", "findings", file="file", output="output")
@reading_options
def plot(
    file: str,
    output: str,
    chosen: tuple[str, ...],
    inputs: tuple[str, ...],
    targets: tuple[str, ...],
    ticks: int | None,
    common: CommonOptions,
) -> Report:
    """Draw examples as heat maps, one row per event.

    \b
      exset plot train.ex -o train.png
      exset plot train.ex -o some.pdf -e 0:5 -e "ba*"
      exset plot train.ex -o c.svg --inputs onset=20 --inputs vowel=6 --targets 12

    Group sizes default to the highest unit used. With --inputs or --targets, exset draws only the
    groups named there; a single number is the number of all units. A picture has a limited height:
    it may show only the first examples. Plots need matplotlib: pip install 'exset[plot]'.
    """
    from exset.grammars.lens.examples import ExampleSet
    from exset.runtime.lens import plot as pictures
    from exset.runtime.lens.plot_rows import picture_rows

    pictures.suffix(output)
    examples = common.load_model(file, ExampleSet)
    which = chosen_units(examples, chosen)
    layouts = layout_of("inputs", inputs), layout_of("targets", targets)
    with data_errors(ImportError):
        with with_source_name(file, LENS.noun):
            shown = picture_rows(examples, which, *layouts, ticks=ticks, **common.reading)
        pictures.write(shown, output, "" if file == "-" else file)
    drawn = f"{shown.cut} (--examples selects)" if shown.cut else LENS.counted(len(shown.names))
    status = [f"{safe(output)}: {drawn}"]
    return Report({"examples": len(shown.names)}, common.findings, status=status, shown=1)
