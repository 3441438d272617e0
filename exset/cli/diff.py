"""`exset diff`: in what two files differ, by what they mean."""

import math
from itertools import chain

import click

from exset.cli.common import ALL, BAD, FINE, wrong
from exset.cli.inputs import (
    PATH,
    Reading,
    alone,
    found,
    json_option,
    reading_options,
    wants_json,
    write_one,
)
from exset.comparing import diff as compare
from exset.core.errors import blaming, safe

FIRST = 10
"""How many differences are shown."""


@click.command()
@click.argument("one", type=PATH, callback=alone)
@click.argument("other", type=PATH, callback=alone)
@click.option(
    "--tolerance",
    metavar="T",
    type=click.FloatRange(min=0),
    default=0.0,
    help="How far numbers may be apart, relative to those above 1 (0).",
)
@json_option(
    "equal",
    "what",
    "compared",
    "differing",
    "first",
    "counts",
    "findings",
    file="one",
    other="other",
)
@reading_options
@click.pass_context
def diff(
    ctx: click.Context,
    one: str,
    other: str,
    tolerance: float,
    reading: Reading,
) -> None:
    """Compare two files by what they mean.

    \b
      exset diff train.ex train.bex
      exset diff --tolerance 1e-6 old.ex new.ex

    The exit code is 1 if they differ. Their formats may, if they are of one family. Of the
    differences the first ten are shown, with -v a hundred, with -q none.
    """
    if not tolerance < math.inf:
        wrong(f"--tolerance: a number from 0 is wanted, not {tolerance}")
    if one == other == "-":
        wrong("standard input can be read once only")
    first, second = reading(one), reading(other)
    families = first.format.family, second.format.family
    if families[0] != families[1]:
        nouns = [family.noun for family in families]
        wrong(f"{safe(one)} is of {nouns[0]}s, {safe(other)} of {nouns[1]}s: nothing to compare")
    voice = reading.voice
    keep = ALL if voice > 0 or wants_json() else FIRST
    with blaming(f"{one} and {other}"):
        differences = compare(first.model, second.model, tolerance=tolerance, keep=keep)
    if wants_json():
        heard = reading.findings(chain(first.findings, second.findings))
        row = {"file": one, "other": other, **differences.to_dict()}
        write_one({**row, **found(heard)}, ok=not differences)
    elif voice >= 0:
        names = [safe(each.source.name) for each in (first, second)]
        count = families[0].counted(len(first.model))
        if not differences:
            click.echo(f"{names[0]} and {names[1]} mean the same: {count}")
        else:
            for each in differences.first:
                click.echo(str(each))
            of = f"{differences.differing:,} of {differences.compared:,} {differences.what}"
            click.echo(f"{names[0]} and {names[1]} differ: {of}")
    ctx.exit(BAD if differences else FINE)
