"""`exset edit`: filter, order and rename the units of files, and join files."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, cast

import click

from exset import api, edit, formats
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, reading_options
from exset.cli.models import refuse_json_in_data, written
from exset.cli.options import Whole, option
from exset.cli.output import data_errors, require_option, usage_error
from exset.cli.paths import some_files
from exset.cli.reports import Report, json_option
from exset.cli.units import check_count, chosen_units, layout_of
from exset.conditions import Condition
from exset.core.errors import with_source_name
from exset.core.limits import Limits
from exset.core.protocols import Joinable
from exset.core.text import safe, with_article
from exset.families.format import Format
from exset.io.files import read as read_file
from exset.io.many_paths import names_of
from exset.writing import writer

Step: TypeAlias = Callable[..., Any]
"""A change of a model."""


@click.command("edit", cls=FormatCommand)
@some_files
@option(
    "-o",
    "--output",
    metavar="OUT",
    default="-",
    help="Write to this file (default: standard output).",
)
@option(
    "--keep",
    metavar="CONDITION",
    multiple=True,
    help="Keep only examples, samples or records that meet a condition, such as 'events>=3'.",
)
@option(
    "--drop",
    metavar="CONDITION",
    multiple=True,
    help="Drop examples, samples or records that meet a condition, such as 'name=v_*'.",
)
@option(
    "--select",
    metavar="WHICH",
    multiple=True,
    help="Select in this order: an index from 0, a slice START:STOP:STEP, or a pattern of names.",
)
@option("--sort", metavar="FIELD", help="Sort by this field.")
@option("--shuffle", is_flag=True, help="Shuffle the examples, samples or records; see --seed.")
@option("--reverse", is_flag=True, help="Reverse the order of examples, samples or records.")
@option(
    "--rename",
    metavar="WHAT OLD NEW",
    type=(str, str, str),
    multiple=True,
    help="Rename OLD to NEW; WHAT is name, group, file, label or column.",
)
@option(
    "--noise", metavar="SD", type=float, help="Add noise with this standard deviation to inputs."
)
@option("--group", metavar="NAME", help="With --noise, change only this group.")
@option(
    "--inputs",
    metavar="GROUP=SIZE",
    multiple=True,
    help="Give names and sizes of the input groups, in order.",
)
@option(
    "--clip",
    metavar="LOW HIGH",
    type=(float, float),
    help="With --noise, limit the noisy inputs to this range.",
)
@option(
    "--seed", type=Whole(0), default=0, help="Set the seed of --shuffle and --noise (default: 0)."
)
@json_option("format", "units", "counts", "findings", file="output")
@reading_options
def edit_files(
    files: Sequence[str],
    output: str,
    keep: tuple[str, ...],
    drop: tuple[str, ...],
    rename: tuple[tuple[str, str, str], ...],
    noise: float | None,
    group: str | None,
    inputs: tuple[str, ...],
    clip: tuple[float, float] | None,
    seed: int,
    common: CommonOptions,
    **order: Any,
) -> Report:
    """Filter, order and rename examples, samples or records; join files.

    \b
      exset edit a.ex b.ex -o all.ex
      exset edit all.ex -o verbs.ex --keep 'name=v_*' --drop 'events>3'
      exset edit all.sample_list -o good.sample_list --drop id=@bad.txt
      exset edit all.ex -o new.ex --rename group hidden hid
      exset edit all.ex -o noisy.ex --noise 0.1 --group sound --seed 1

    exset applies the options in the order below. A FIELD is name; events or frequency (Lens); file
    or id (sample lists); label or the number of a column (manifests); a column (tables).
    FIELD=@LIST means that the file LIST has the values, one on each line. A * in OLD matches any
    text. A * in NEW inserts the text that the * in OLD matched.
    """
    if noise is None:
        require_option("--noise", "group", "inputs", "clip")
    refuse_json_in_data(output)
    steps = [*_ordering(seed=seed, limits=common.limits, **order), *_renaming(rename)]
    if noise is not None:
        layout = layout_of("inputs", inputs)
        noisy = partial(edit.add_noise, group=group, inputs=layout, clip=clip, **common.reading)
        steps.append(partial(noisy, deviation=noise, seed=seed))
    read: list[int] = []
    with data_errors(), with_source_name(names_of(files)):
        filters = [*_filters(keep, drop, common)]
        models = _models(files, common, read)
        source, first = next(models)
        target = formats.by_suffix(output, source.family) or source
        api.check_convertible(source.family, target, output, files[0])
        changed = map(
            partial(_applied, steps=filters), chain([first], (each for _, each in models))
        )
        if steps or not _is_chunked(source, target, output):
            model = _applied(cast(Joinable, source.family.joined(changed)), steps)
            size = _size(source, len(model), sum(read))
            return written(model, target.name, output, common.findings, size)
        with writer(output, format=target.name, findings=common.findings) as out:
            for model in changed:
                out.write(model)
    status = [f"{safe(output)}: {_size(source, out.count, sum(read))}"] if output != "-" else []
    return Report({"format": target.name, "units": out.count}, common.findings, status=status)


def _models(
    paths: Sequence[str], common: CommonOptions, read: list[int]
) -> Iterator[tuple[Format, Joinable]]:
    """Yield each file as a model, or as several models, one for each chunk.

    All models must be of one family. Adds the number of units of each model to the list `read`.
    """
    family = None
    for path in paths:
        with common.opened(path) as file:
            fmt = file.format
            family = family or fmt.family
            if fmt.family != family:
                nouns = with_article(fmt.family.noun), with_article(family.noun)
                usage_error(f"{safe(path)} is {nouns[0]}, not {nouns[1]}")
            for model in file.models(common.findings, **common.options):
                if not isinstance(model, Joinable):
                    usage_error(f"{with_article(family.noun)} cannot be edited")
                check_count(model, path, common.limits)
                read.append(len(model))
                yield fmt, model


def _applied(model: Joinable, steps: Sequence[Step]) -> Joinable:
    for step in steps:
        model = step(model)
    return model


def _size(source: Format, count: int, read: int) -> str:
    """Return a text with the number of written units, and of read units if it differs."""
    counted = source.family.counted(read)
    return counted if count == read else f"{count:,} of {counted}"


def _is_chunked(source: Format, target: Format, output: str) -> bool:
    """Return whether to edit the files in chunks. A terminal must not show an incomplete file."""
    is_shown = output == "-" and (sys.stdout is None or sys.stdout.isatty())
    if is_shown or source.family != target.family:
        return False
    return source.streamer is not None and target.incremental_writer is not None


def _filters(keep: tuple[str, ...], drop: tuple[str, ...], common: CommonOptions) -> Iterator[Step]:
    """Yield a function for each condition: it returns a model with only the units to keep.

    keep, drop: the conditions. In FIELD=@LIST, the file LIST contains the values.
    """
    functions: list[tuple[str, Step, Step]] = [(each, edit.keep, edit.drop) for each in keep]
    functions += [(each, edit.drop, edit.keep) for each in drop]
    for text, function, opposite in functions:
        condition = Condition.of(text)
        if condition.test not in ("=", "!=") or not condition.value.startswith("@"):
            yield partial(_filtered, function=function, condition=text)
            continue
        lines = read_file(condition.value[1:], limits=common.limits).data.splitlines()
        values = {condition.field: [line for line in lines if line]}
        yield partial(function if condition.test == "=" else opposite, **values)


def _filtered(model: Joinable, function: Step, condition: str) -> Joinable:
    changed: Joinable = function(model, condition)
    return changed


def _ordering(
    select: tuple[str, ...],
    sort: str | None,
    shuffle: bool,
    reverse: bool,
    seed: int,
    limits: Limits,
) -> Iterator[Step]:
    if select:
        yield lambda model: model.select(chosen_units(model, select))
    if sort is not None:
        yield partial(edit.sort, by=sort)
    if shuffle:
        yield partial(edit.shuffle, seed=seed, limits=limits)
    if reverse:
        yield lambda model: model.select(slice(None, None, -1))


def _renaming(renamed: tuple[tuple[str, str, str], ...]) -> Iterator[Step]:
    for kind in dict.fromkeys(what for what, _, _ in renamed):
        names = {old: new for what, old, new in renamed if what == kind}
        yield partial(edit.rename, names=names, what=kind)
