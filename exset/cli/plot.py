"""`exset plot`: a picture of examples."""

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from exset.cli.common import say, wrong
from exset.cli.inputs import (
    Reading,
    found,
    json_option,
    one_file,
    reading_options,
    wants_json,
    write_one,
)
from exset.cli.models import read, tell
from exset.core.errors import FormatError, blaming, safe
from exset.families.family import LENS

if TYPE_CHECKING:
    from exset.grammars.columns.arrays import Longs
    from exset.grammars.lens.examples import ExampleSet

_SLICE = re.compile(r"(-?\d+)|(-?\d*):(-?\d*)(?::(-?\d*))?", re.ASCII)


@click.command()
@one_file
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    help="The picture, by its suffix: .png, .svg or .pdf.",
)
@click.option(
    "-e",
    "--examples",
    "wanted",
    metavar="WHICH",
    multiple=True,
    help="An index, from 0; a slice, FIRST:END or FIRST:END:STEP; or a pattern of names, ba*.",
)
@click.option("--inputs", metavar="GROUP=SIZE", multiple=True, help="The groups, in order.")
@click.option("--targets", metavar="GROUP=SIZE", multiple=True, help="The groups, in order.")
@click.option(
    "--ticks",
    metavar="N",
    type=click.IntRange(min=1),
    help="One row a tick, of N in an interval of time.",
)
@json_option("examples", "counts", "findings", file="file", output="output")
@reading_options
def plot(
    file: str,
    output: str,
    wanted: tuple[str, ...],
    inputs: tuple[str, ...],
    targets: tuple[str, ...],
    ticks: int | None,
    reading: Reading,
) -> None:
    """Draw examples as heat maps, group by group, one row an event.

    \b
      exset plot train.ex -o train.png
      exset plot train.ex -o some.pdf -e 0:5 -e "ba*"
      exset plot train.ex -o c.svg --inputs onset=20 --inputs vowel=6 --targets 12

    Without sizes of groups, or one number of units, the least that the file needs are taken; groups
    that are not named are left out. As many rows are drawn as one can see, from the first on.
    Needs matplotlib: pip install 'exset[plot]'.
    """
    from exset.grammars.lens.examples import ExampleSet
    from exset.runtime.lens import plot as pictures
    from exset.runtime.lens.plot_rows import picture_rows

    pictures.suffix(output)
    findings = reading.findings()
    examples = read(file, ExampleSet, reading, findings)
    which = _chosen(examples, wanted)
    layouts = _layout("inputs", inputs), _layout("targets", targets)
    try:
        with blaming(file, LENS.noun):
            shown = picture_rows(
                examples, which, *layouts, ticks=ticks, findings=findings, limits=reading.limits
            )
        pictures.write(shown, output, "" if file == "-" else file)
    except FormatError:
        raise
    except (ValueError, ImportError) as error:
        wrong(safe(str(error)))
    if wants_json():
        row = {"file": file, "output": output, "examples": len(shown.names)}
        write_one({**row, **found(findings)})
        return
    tell(findings, 1, reading.voice)
    cut = shown.cut and f"{shown.cut} (--examples says which)"
    if reading.voice >= 0:
        say(f"{safe(output)}: {cut or LENS.counted(len(shown.names))}")


def _chosen(examples: "ExampleSet", wanted: tuple[str, ...]) -> "Longs | None":
    """The indices of the examples that are wanted, each once; None for all. UsageError."""
    import numpy as np

    if not wanted:
        return None
    numbers: list[int] = []
    names: list[str] = []
    for each in wanted:
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
                wrong(f"{each}: a step of 0")
            found = range(len(examples))[first:end:step]
        if not found:
            wrong(f"{safe(each)}: there is no such example, of {len(examples):,}")
        numbers += found
    return np.array(list(dict.fromkeys(numbers)), np.int64)


def _layout(side: str, given: tuple[str, ...]) -> "dict[str, int] | int | None":
    """The sizes of groups, or one number of units; None if nothing is given. UsageError."""
    if not given:
        return None
    if len(given) == 1 and given[0].isdecimal():
        return int(given[0])
    sizes: dict[str, int] = {}
    for each in given:
        name, equals, size = each.rpartition("=")
        if not equals or not size.isdecimal() or name in sizes:
            wrong(f"--{side} {safe(each)}: GROUP=SIZE is wanted, once for each group")
        sizes[name] = int(size)
    return sizes
