"""`exset split` and `exset stats`: a file in parts, and all that can be said of it in numbers."""

import os
import re

import click

from exset import api, formats
from exset.cli.common import jobs_option, say, wrong
from exset.cli.inputs import (
    Reading,
    as_json,
    found,
    json_option,
    one_file,
    reading_options,
    some_files,
    wants_json,
    write_one,
)
from exset.cli.inspect import summed_up
from exset.cli.models import tell
from exset.core.errors import FormatError, safe
from exset.core.protocols import Selectable
from exset.core.text import with_article
from exset.families.format import Format
from exset.io import files

_PART = re.compile(
    r"(?P<target>.+?)=(?:(?P<percent>\d+(?:\.\d+)?)%|(?P<share>0?\.\d+)|(?P<count>\d+)"
    r"|name:(?P<name>.+)|rest)"
)


@click.command()
@one_file
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
@json_option("parts", "counts", "findings", file="file")
@reading_options
def split(
    file: str,
    parts: tuple[str, ...],
    trainers: int | None,
    output: str | None,
    seed: int | None,
    by: str | None,
    stratify: str | None,
    reading: Reading,
) -> None:
    """Split a file into parts that share nothing.

    \b
      exset split all.ex train.ex=90% test.ex=rest --seed 1
      exset split all.sample_list a.sample_list=1000 b.sample_list=rest --by file
      exset split all.tsv train.tsv=80% test.tsv=rest --stratify label
      exset split all.ex 'verbs.ex=name:v_*' others.ex=rest
      exset split all.sample_list --trainers 4     t0_all.sample_list, ...

    A GROUP of a manifest is `label`, its last column, or the number of any column, from 0.

    A SIZE is a percentage, a fraction such as .25, a number of examples or samples, `name:PATTERN`
    for those with such names, or `rest`. The name of a sample is FILE/ID, that of a record its
    first field.
    """
    from exset.splitting import split as split_model

    targets = _targets(file, parts, trainers, output)
    read = reading(file)
    source, known, model, findings = read.source, read.format, read.model, read.findings
    if not isinstance(model, Selectable):
        wrong(f"{with_article(known.family.noun)} cannot be split")
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
        if reading.voice >= 0 and not wants_json():
            say(f"{safe(target)}: {known.family.counted(len(part))}")
    if wants_json():
        rows = [
            {"target": target, "units": len(part)}
            for (target, _), part in zip(targets, made, strict=True)
        ]
        write_one({"file": file, "parts": rows, **found(findings)})
    else:
        tell(findings, 0, reading.voice)


@click.command()
@some_files
@as_json
@reading_options
@jobs_option
@click.pass_context
def stats(
    ctx: click.Context, files: tuple[str, ...], as_json: bool, reading: Reading, jobs: int
) -> None:
    """Say all that can be said of files in numbers.

    \b
      exset stats train.ex

    That is what `info` says, and what takes longer. With --json each file has the keys that it has
    with `info`.
    """
    summed_up(ctx, files, as_json, reading, jobs, whole=True)


def _targets(
    file: str, parts: tuple[str, ...], trainers: int | None, output: str | None
) -> list[tuple[str, float | str | None]]:
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
    targets: list[tuple[str, float | str | None]] = []
    for part in parts:
        if (match := _PART.fullmatch(part)) is None:
            wrong(f"{safe(part)}: OUTPUT=SIZE is wanted, such as train.ex=90% or test.ex=rest")
        targets.append((match["target"], _size(match)))
    names = [name for name, _ in targets]
    if len(set(names)) < len(names) or file in names or "-" in names:
        wrong("each part needs a file of its own, and none of them may be the input")
    return targets


def _size(match: re.Match[str]) -> float | str | None:
    if match["name"]:
        return match["name"]
    if match["percent"]:
        if float(match["percent"]) > 100:
            wrong(f"{safe(match[0])}: a part is of at most 100%")
        return float(match["percent"]) / 100
    if match["share"]:
        return float(match["share"])
    return int(match["count"]) if match["count"] else None


def _format_of(target: str, known: Format) -> Format:
    """Return the format of a part: what its suffix says, else that of the whole."""
    return formats.by_suffix(target) or known
