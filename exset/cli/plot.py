"""`exset plot`: draw a picture of examples."""

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from exset.cli.commands import Command
from exset.cli.inputs import CommonOptions, reading_options
from exset.cli.options import Whole, option, secondary_option
from exset.cli.output import argument_errors, usage_error
from exset.cli.paths import one_file
from exset.cli.reports import Report, json_option
from exset.core.errors import with_source_name
from exset.core.text import counted, safe
from exset.families.lens import LENS

if TYPE_CHECKING:
    from exset.grammars.columns.arrays import Longs
    from exset.grammars.lens.examples import ExampleSet

_SLICE = re.compile(r"(-?\d+)|(-?\d*):(-?\d*)(?::(-?\d*))?", re.ASCII)


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
@option("--inputs", metavar="GROUP=SIZE", multiple=True, help="Name the input groups, in order.")
@option("--targets", metavar="GROUP=SIZE", multiple=True, help="Name the target groups, in order.")
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
    it shows the first examples. Plots need matplotlib: pip install 'exset[plot]'.
    """
    from exset.grammars.lens.examples import ExampleSet
    from exset.runtime.lens import plot as pictures
    from exset.runtime.lens.plot_rows import picture_rows

    pictures.suffix(output)
    examples = common.load_model(file, ExampleSet)
    which = _indices(examples, chosen)
    layouts = _layout("inputs", inputs), _layout("targets", targets)
    with argument_errors((ValueError, ImportError)):
        with with_source_name(file, LENS.noun):
            shown = picture_rows(examples, which, *layouts, ticks=ticks, **common.reading)
        pictures.write(shown, output, "" if file == "-" else file)
    drawn = f"{shown.cut} (--examples selects)" if shown.cut else LENS.counted(len(shown.names))
    status = [f"{safe(output)}: {drawn}"]
    return Report({"examples": len(shown.names)}, common.findings, status=status, shown=1)


def _indices(examples: "ExampleSet", chosen: tuple[str, ...]) -> "Longs | None":
    """Return the indices of the chosen examples, each once; None for all. Raises UsageError."""
    import numpy as np

    if not chosen:
        return None
    numbers: list[int] = []
    names: list[str] = []
    for each in chosen:
        match = _SLICE.fullmatch(each)
        found: list[int] | range
        if match is None:
            names = names or [examples.name.text(i) or "" for i in range(len(examples))]
            found = [i for i, name in enumerate(names) if fnmatchcase(name, each)]
        elif match[1] is not None:
            index = int(match[1])
            found = range(len(examples))[index : None if index == -1 else index + 1]
        else:
            first, end, step = (int(part) if part else None for part in match.groups()[1:])
            if step == 0:
                usage_error(f"{each} has a step of 0")
            found = range(len(examples))[first:end:step]
        if not found:
            usage_error(f"{safe(each)} selects none of the {counted(len(examples), 'example')}")
        numbers += found
    return np.array(list(dict.fromkeys(numbers)), np.int64)


def _layout(side: str, values: tuple[str, ...]) -> "dict[str, int] | int | None":
    """Return the sizes of groups, or a number of units; None without values. Raises UsageError."""
    if not values:
        return None
    if len(values) == 1 and values[0].isdecimal():
        return int(values[0])
    sizes: dict[str, int] = {}
    for each in values:
        name, equals, size = each.rpartition("=")
        if not equals or not size.isdecimal():
            usage_error(f"--{side} {safe(each)} is not of the form GROUP=SIZE")
        if name in sizes:
            usage_error(f"--{side} {safe(each)}: the group is named twice")
        sizes[name] = int(size)
    return sizes
