"""`exset split`: split a file into disjoint files."""

import os
import re
from typing import Any

import click

from exset import api, formats
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, reading_options
from exset.cli.options import Whole, option
from exset.cli.output import data_error, data_errors, usage_error
from exset.cli.paths import one_file
from exset.cli.reports import Report, json_option
from exset.cli.units import check_count
from exset.core.protocols import Selectable
from exset.core.text import safe, with_article
from exset.io import files

_PART = re.compile(
    r"(?P<target>.+?)=(?:(?P<percent>\d+(?:\.\d+)?)%|(?P<share>0?\.\d+)|(?P<count>\d+)"
    r"|name:(?P<name>.+)|rest)"
)


@click.command(cls=FormatCommand)
@one_file
@click.argument("parts", metavar="[OUTPUT=SIZE]...", nargs=-1)
@option("--trainers", type=Whole(1), help="Write N files of equal size: t0_FILE, t1_FILE, ...")
@option("-o", "--output", metavar="FOLDER", help="Write the files of --trainers to this folder.")
@option("--seed", type=Whole(0), help="Choose examples or samples at random, with this seed.")
@option("--by", metavar="FIELD", help="Keep items with the same value of FIELD in one file.")
@option(
    "--stratify",
    metavar="FIELD",
    help="Keep the proportions of the values of FIELD in every file.",
)
@json_option("parts", "counts", "findings", file="file")
@reading_options
def split(
    file: str,
    parts: tuple[str, ...],
    trainers: int | None,
    output: str | None,
    common: CommonOptions,
    **how: Any,
) -> Report:
    """Split a file into disjoint files (train/test).

    \b
      exset split all.ex train.ex=90% test.ex=rest --seed 1
      exset split all.sample_list a.sample_list=1000 b.sample_list=rest --by file
      exset split all.tsv train.tsv=80% test.tsv=rest --stratify label
      exset split all.ex 'verbs.ex=name:v_*' others.ex=rest
      exset split all.sample_list --trainers 4     t0_all.sample_list, ...

    An item is an example, a sample or a record. A SIZE is a percentage, a fraction such as .25, a
    number of items, name:PATTERN for the items with a matching name, or rest. The name of a sample
    is FILE/ID. The name of a record is its first field.

    A FIELD is "file" (sample lists), "label" (the last column of a manifest), or the number of a
    column, from 0.
    """
    from exset.splitting import split as split_model

    targets = _targets(file, parts, trainers, output)
    loaded = common.load(file)
    name, fmt, findings = loaded.name, loaded.format, loaded.findings
    if not isinstance(loaded.model, Selectable):
        data_error(f"{with_article(fmt.family.noun)} cannot be split")
    check_count(loaded.model, name, common.limits)
    format_of = {target: formats.by_suffix(target, fmt.family) or fmt for target in targets}
    for target, target_format in format_of.items():
        api.check_convertible(fmt.family, target_format, target, name)
    with data_errors():
        models = split_model(loaded.model, [*targets.values()], **how)
    made = dict(zip(targets, models, strict=True))
    data = {
        target: api.dumps(part, format=format_of[target].name, name=name, findings=findings)
        for target, part in made.items()
        if not format_of[target].is_folder
    }
    for target, part in made.items():
        if target in data:
            files.write(target, data[target])
        else:
            to = format_of[target].name
            api.save(part, target, format=to, name=name, findings=findings)
    rows = [{"target": target, "units": len(part)} for target, part in made.items()]
    status = [f"{safe(target)}: {fmt.family.counted(len(part))}" for target, part in made.items()]
    return Report({"parts": rows}, findings, status=status, shown=0)


def _targets(
    file: str, parts: tuple[str, ...], trainers: int | None, output: str | None
) -> dict[str, float | str | None]:
    """Return the size of each file to write, by its path.

    parts: the arguments PATH=SIZE. Raises UsageError for wrong arguments.
    """
    if (trainers is None) == (not parts):
        usage_error("name the files as OUTPUT=SIZE, or use --trainers N")
    if trainers is not None:
        if file == "-":
            usage_error("standard input has no name for --trainers: use OUTPUT=SIZE")
        folder, name = os.path.split(file)
        folder = folder if output is None else output
        return {os.path.join(folder, f"t{k}_{name}"): 1 / trainers for k in range(trainers)}
    if output is not None:
        usage_error("-o needs --trainers; OUTPUT=SIZE names a file itself")
    targets: dict[str, float | str | None] = {}
    for part in parts:
        if (match := _PART.fullmatch(part)) is None:
            form = "OUTPUT=SIZE, such as train.ex=90% or test.ex=rest"
            usage_error(f"{safe(part)} is not of the form {form}")
        if (target := match["target"]) in (*targets, file, "-"):
            usage_error("the files must differ from one another and from the input")
        targets[target] = _size(match)
    return targets


def _size(match: re.Match[str]) -> float | str | None:
    if match["name"]:
        return match["name"]
    if match["percent"]:
        if float(match["percent"]) > 100:
            usage_error(f"{safe(match[0])} is more than 100%")
        return float(match["percent"]) / 100
    if match["share"]:
        return float(match["share"])
    return int(match["count"]) if match["count"] else None
