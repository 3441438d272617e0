"""`exset schema`: look at, check and build the schemas that say what lies in HDF5 files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from exset import api
from exset.cli.common import BAD, FINE, access_options, jobs_option, lines, say, wrong
from exset.cli.inputs import (
    Reading,
    common_options,
    expanded,
    file_argument,
    files_argument,
    found,
    json_option,
    wants_json,
    write_one,
)
from exset.cli.models import output_file, tell
from exset.core.errors import Findings, Severity, blaming, safe
from exset.core.limits import Limits
from exset.core.text import counted
from exset.io import files
from exset.io.access import Access

if TYPE_CHECKING:
    from exset.grammars.lbann.schema import Schema
    from exset.runtime.lbann.sample_reader import HasPairs, Pair

_SHOWN = 3

compat_option = click.option(
    "--compat", type=click.Choice(["lbann"]), help="Refuse whatever LBANN refuses."
)
sample_option = click.option(
    "--sample",
    "sample",
    metavar="FILE ID",
    type=(str, str),
    help="A sample, by its file and its path there.",
)


@click.group()
def schema() -> None:
    """Look at, check and build LBANN's schemas of HDF5 data."""


@schema.command()
@file_argument("data", "DATA")
@file_argument("experiment", "EXPERIMENT")
@sample_option
@json_option("fields", "packed", "counts", "findings", data="data", experiment="experiment")
@compat_option
@access_options
@common_options
def show(
    data: str,
    experiment: str,
    sample: tuple[str, str] | None,
    compat: str | None,
    access: Access,
    reading: Reading,
) -> None:
    """Show which fields an EXPERIMENT schema reads, and how.

    \b
      exset schema show data.yaml experiment.yaml --sample run_0.h5 run/000
    """
    from exset.runtime.lbann import schema_show
    from exset.runtime.lbann.hdf5 import File
    from exset.runtime.lbann.merged_schema import resolve
    from exset.runtime.lbann.packing import plan
    from exset.runtime.lbann.sample_layout import lay_out

    findings = reading.findings()
    pair = [_load(path, reading.limits, findings) for path in (data, experiment)]
    resolved = resolve(*pair, findings=findings)
    wanted = plan(resolved, compat="lbann" if compat else None, findings=findings)
    layout = None
    if sample is not None:
        with File(sample[0], access, reading.limits) as file:
            layout = lay_out(file, sample[1], wanted, findings)
    if wants_json():
        row = schema_show.to_dict(resolved, wanted, layout)
        write_one({"data": data, "experiment": experiment, **row, **found(findings)})
        return
    for line in schema_show.lines(resolved, wanted, layout):
        click.echo(safe(line))
    tell(findings, _SHOWN, reading.voice)


@schema.command()
@file_argument("data", "DATA")
@file_argument("experiment", "EXPERIMENT")
@click.argument("lists", metavar="[LIST]...", nargs=-1, callback=expanded)
@sample_option
@json_option("counts", "findings", data="data", experiment="experiment")
@compat_option
@access_options
@common_options
@jobs_option
@click.pass_context
def check(
    ctx: click.Context,
    data: str,
    experiment: str,
    lists: tuple[str, ...],
    sample: tuple[str, str] | None,
    compat: str | None,
    access: Access,
    reading: Reading,
    jobs: int,
) -> None:
    """Hold schemas against HDF5 files of LISTs, or one sample.

    \b
      exset schema check data.yaml experiment.yaml train.sample_list

    Every field of every sample is looked at, but no values are read. With --jobs 2 or more a file
    on which HDF5 itself crashes is a finding like others.
    """
    from exset.runtime.lbann.schema_check import check_files

    findings = reading.findings()
    pair = [_load(path, reading.limits, findings) for path in (data, experiment)]
    pairs: list[Pair] = [] if sample is None else [sample]
    for path in lists:
        pairs += _listed(path, reading.limits, findings)
    if not pairs:
        wrong("there is nothing to hold them against: name a LIST, or a --sample")
    told = check_files(
        pairs,
        *pair,
        compat="lbann" if compat else None,
        access=access,
        limits=reading.limits,
        jobs=jobs,
    )
    for finding in told:
        findings.add(finding)
    bad = findings.worst is Severity.ERROR
    if wants_json():
        row = {"data": data, "experiment": experiment}
        write_one({**row, **found(findings)}, ok=not bad)
    else:
        for line in lines(findings, findings.keep):
            click.echo(line)
        if reading.voice >= 0 or findings.worst is not None:
            click.echo(f"{counted(len(pairs), 'sample')}: {'not valid' * bad or 'ok'}")
    ctx.exit(BAD if bad else FINE)


@schema.command()
@files_argument("paths", "FILE...")
@click.option("--sample", metavar="ID", help="The path of a sample in the first file.")
@click.option(
    "--normalise",
    type=click.Choice(["range", "unit"]),
    help="Add scale and bias: to 0..1, or to mean 0 and deviation 1. Reads all values.",
)
@output_file("schema", "Where to write the data schema.")
@click.option("--experiment", metavar="FILE", help="Write an experiment schema, too.")
@click.option(
    "--pack",
    "packs",
    metavar="GROUP=PATH",
    multiple=True,
    help="For the experiment schema: pack all fields below a path.",
)
@json_option(
    *("fields", "samples", "prototype", "counts", "findings"),
    file="output",
    experiment="experiment",
)
@access_options
@common_options
@jobs_option
def build(
    paths: tuple[str, ...],
    sample: str | None,
    normalise: str | None,
    output: str,
    experiment: str | None,
    packs: tuple[str, ...],
    access: Access,
    reading: Reading,
    jobs: int,
) -> None:
    """Write a data schema of the samples in HDF5 files and folders.

    \b
      exset schema build data/ -o data.yaml
      exset schema build data/ -o data.yaml --experiment exp.yaml --pack all=in
    """
    from exset.runtime.lbann import schema_build
    from exset.runtime.lbann.hdf5_files import files_in

    pairs = [pack.partition("=") for pack in packs]
    if any(not sign for _, sign, _ in pairs) or (pairs and experiment is None):
        wrong("--pack GROUP=PATH goes with --experiment FILE")
    built = schema_build.build(
        files_in(paths),
        sample,
        normalise="range" if normalise == "range" else "unit" if normalise else None,
        access=access,
        limits=reading.limits,
        jobs=jobs,
    )
    if reading.strict:
        reading.findings(built.findings)
    if not wants_json():
        tell(built.findings, _SHOWN, reading.voice)
    elif output == "-":
        wrong("--json would stand among the data on standard output: say -o FILE")
    with blaming(experiment or output):
        wanted = schema_build.experiment(built.schema, ((group, path) for group, _, path in pairs))
    files.write(output, api.dumps(built.schema, format="schema"))
    if experiment is not None:
        files.write(experiment, api.dumps(wanted, format="schema"))
    if wants_json():
        row = {"file": output, "experiment": experiment, "fields": len(built.schema)}
        row |= {"samples": len(built), "prototype": safe(built.prototype.sample)}
        write_one({**row, **found(built.findings)})
        return
    samples, fields = counted(len(built), "sample"), counted(len(built.schema), "field")
    if reading.voice >= 0:
        say(f"{fields} of {samples} like {safe(built.prototype.sample)}")


def _load(path: str, limits: Limits, findings: Findings) -> Schema:
    from exset.grammars.lbann.schema import Schema

    return api.load(path, model=Schema, format="schema", limits=limits, findings=findings)


def _listed(path: str, limits: Limits, findings: Findings) -> Iterator[Pair]:
    from exset.runtime.lbann.sample_reader import HasPairs

    model = api.load(path, limits=limits, findings=findings)
    if not isinstance(model, HasPairs):
        wrong(f"{safe(path)} is no list of samples")
    named: HasPairs = model
    return named.pairs()
