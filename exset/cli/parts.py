"""`exset split` and `exset stats`: a file in parts, and all that can be said of it in numbers."""

import os
import re
from functools import partial

import click

from exset import api, files, formats
from exset.cli.frame import (
    FINE,
    counted,
    each,
    from_option,
    jobs_option,
    limit_option,
    read_options,
    say,
    wrong,
)
from exset.cli.look import SCHEMA, as_json
from exset.errors import Findings, FormatError, safe
from exset.format import Format
from exset.jobs import Outcome, run
from exset.limits import Limits
from exset.protocols import Option, Selectable, Summary

_SIZE = re.compile(r"(?P<percent>\d+(?:\.\d+)?)%|(?P<share>0?\.\d+)|(?P<count>\d+)|rest")


@click.command()
@click.argument("file")
@click.argument("parts", metavar="[OUTPUT=SIZE]...", nargs=-1)
@click.option(
    "--trainers",
    metavar="N",
    type=click.IntRange(min=1),
    help="N equal parts t0_FILE, t1_FILE, ...",
)
@click.option("-o", "--output", metavar="FOLDER", help="The folder for --trainers.")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    help="Draw at random, the same way each time.",
)
@click.option(
    "--by", metavar="GROUP", help="Keep groups whole, such as each file of a sample list."
)
@click.option(
    "--stratify", metavar="GROUP", help="Share each group out evenly, such as label of a manifest."
)
@from_option
@read_options
@limit_option
def split(
    file: str,
    parts: tuple[str, ...],
    trainers: int | None,
    output: str | None,
    seed: int | None,
    by: str | None,
    stratify: str | None,
    from_format: str | None,
    reading: dict[str, Option],
    limits: Limits,
) -> None:
    """Split a file into parts that share nothing.

    \b
      exset split all.ex train.ex=90% test.ex=rest --seed 1
      exset split all.sample_list a.sample_list=1000 b.sample_list=rest --by file
      exset split all.tsv train.tsv=80% test.tsv=rest --stratify label
      exset split all.sample_list --trainers 4     t0_all.sample_list, ...

    A GROUP of a manifest is `label`, its last column, or the number of any column, from 0.

    A SIZE is a percentage, a fraction such as .25, a number of examples or samples, or `rest`.
    """
    from exset.splitting import split as split_model

    targets = _targets(file, parts, trainers, output)
    source = api.read_source(file, limits=limits)
    known = api.recognise(source, from_format)
    findings = Findings()
    model = known.read(source, limits=limits, findings=findings, engine="auto", **reading)
    if not isinstance(model, Selectable):
        wrong(f"a {known.family.noun} cannot be split")
    for target, _ in targets:
        api.convertible(known, _format_of(target, known), source)
    try:
        made = split_model(
            model, [size for _, size in targets], seed=seed, by=by, stratify=stratify
        )
    except FormatError:
        raise
    except ValueError as error:
        wrong(str(error))
    written = [
        api.dumps(part, format=_format_of(target, known).name, name=source.name, findings=findings)
        for (target, _), part in zip(targets, made, strict=True)
    ]
    for (target, _), part, data in zip(targets, made, written, strict=True):
        files.write(target, data)
        say(f"{safe(target)}: {known.family.counted(len(part))}")


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@as_json
@from_option
@read_options
@limit_option
@jobs_option
@click.pass_context
def stats(
    ctx: click.Context,
    files: tuple[str, ...],
    as_json: bool,
    from_format: str | None,
    reading: dict[str, Option],
    limits: Limits,
    jobs: int,
) -> None:
    """Say all that can be said of files in numbers: what `info` says, and what takes longer."""
    import json

    def show(outcome: Outcome[str, tuple[str, Summary, Findings]]) -> int:
        name, summary, findings = outcome.result()
        if as_json:
            row = {"schema": SCHEMA, "file": outcome.item, "format": name, **summary.to_dict()}
            click.echo(json.dumps(row, allow_nan=False))
            return FINE
        click.echo(f"{safe(outcome.item)}: {formats.get(name).title}")
        for label, text in summary.rows():
            click.echo(f"  {label:<11} {safe(text)}")
        if len(findings):
            click.echo(f"  {'findings':<11} {counted(findings)} (exset validate says which)")
        return FINE

    describe = partial(_described, format=from_format, reading=reading, limits=limits)
    ctx.exit(each(run(describe, files, jobs=jobs), show))


def _described(
    path: str, format: str | None, reading: dict[str, Option], limits: Limits
) -> tuple[str, Summary, Findings]:
    source = api.read_source(path, limits=limits)
    known = api.recognise(source, format)
    findings = Findings()
    model = known.read(source, limits=limits, findings=findings, engine="auto", **reading)
    return known.name, known.family.describe(model), findings


def _targets(
    file: str, parts: tuple[str, ...], trainers: int | None, output: str | None
) -> list[tuple[str, float | None]]:
    """Return what is to be written, and how much goes there; UsageError for what cannot be."""
    if (trainers is None) == (not parts):
        wrong("say the parts, as OUTPUT=SIZE, or --trainers N")
    if trainers is not None:
        if file == "-":
            wrong("standard input has no name to give to parts: say OUTPUT=SIZE for each")
        folder, name = os.path.split(file)
        folder = folder if output is None else output
        return [(os.path.join(folder, f"t{k}_{name}"), 1 / trainers) for k in range(trainers)]
    if output is not None:
        wrong("-o goes with --trainers; a part is written where OUTPUT=SIZE says")
    targets = []
    for part in parts:
        name, equals, size = part.rpartition("=")
        match = _SIZE.fullmatch(size)
        if not equals or not name or match is None:
            wrong(f"{safe(part)}: OUTPUT=SIZE is wanted, such as train.ex=90% or test.ex=rest")
        targets.append((name, _size(match)))
    names = [name for name, _ in targets]
    if len(set(names)) < len(names) or file in names or "-" in names:
        wrong("each part needs a file of its own, and none of them may be the input")
    return targets


def _size(match: re.Match[str]) -> float | None:
    if match["percent"]:
        return float(match["percent"]) / 100
    if match["share"]:
        return float(match["share"])
    return int(match["count"]) if match["count"] else None


def _format_of(target: str, known: Format) -> Format:
    """Return the format of a part: what its suffix says, else that of the whole."""
    return formats.by_suffix(target) or known
