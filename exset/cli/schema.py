"""`exset schema`: show, check and build LBANN's schemas of HDF5 data."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import click

from exset import api
from exset.cli import format_options
from exset.cli.commands import Group
from exset.cli.executions import jobs_options
from exset.cli.inputs import CommonOptions, access_options, common_options
from exset.cli.models import is_incomplete, output_option, refuse_json_in_data
from exset.cli.options import Decorator, option, options
from exset.cli.output import usage_error
from exset.cli.paths import all_paths, file_argument, files_argument
from exset.cli.reports import Report, json_option, json_rows, show_findings, verdict
from exset.core.errors import Severity, with_source_name
from exset.core.text import counted, safe
from exset.io import files

if TYPE_CHECKING:
    from exset.grammars.lbann.schema import Schema
    from exset.runtime.lbann.sample_reader import Pair


def schema_options(*keys: str) -> Decorator:
    """Add the arguments DATA and EXPERIMENT, and their options; `keys`: as for `json_option`."""
    return options(
        file_argument("data", "DATA"),
        file_argument("experiment", "EXPERIMENT"),
        option(
            "--sample",
            metavar="FILE ID",
            type=(str, str),
            help="Use the sample ID of the HDF5 file FILE.",
        ),
        option(
            "--compat",
            type=click.Choice(["lbann"]),
            help="Reject every schema that LBANN rejects.",
        ),
        json_option(*keys, "counts", "findings", data="data", experiment="experiment"),
        access_options,
        common_options,
    )


@click.group(cls=Group)
def schema() -> None:
    """Show, check and build LBANN schemas of HDF5 data."""


@schema.command()
@schema_options("fields", "packed")
def show(
    data: str,
    experiment: str,
    sample: tuple[str, str] | None,
    compat: Literal["lbann"] | None,
    common: CommonOptions,
) -> Report:
    """Show which fields an EXPERIMENT schema reads, and how.

    \b
      exset schema show data.yaml experiment.yaml --sample run_0.h5 run/000
    """
    from exset.runtime.hdf5.file import File
    from exset.runtime.lbann import schema_show
    from exset.runtime.lbann.merged_schema import merge_schemas
    from exset.runtime.lbann.packing import plan
    from exset.runtime.lbann.sample_layout import lay_out

    schemas = [_load(path, common) for path in (data, experiment)]
    merged = merge_schemas(*schemas, findings=common.findings)
    packing = plan(merged, compat=compat, findings=common.findings)
    layout = None
    if sample is not None:
        with File(sample[0], common.access, common.limits) as file:
            layout = lay_out(file, sample[1], packing, common.findings)
    row = schema_show.to_dict(merged, packing, layout)
    return Report(row, common.findings, map(safe, schema_show.lines(merged, packing, layout)))


@schema.command()
@schema_options()
@format_options.read_options
@click.argument("lists", metavar="[LIST]...", nargs=-1, callback=all_paths)
@jobs_options
def check(
    data: str,
    experiment: str,
    lists: Sequence[str],
    sample: tuple[str, str] | None,
    compat: Literal["lbann"] | None,
    common: CommonOptions,
) -> Report:
    """Check schemas against the HDF5 files of sample lists, or against one sample.

    \b
      exset schema check data.yaml experiment.yaml train.sample_list

    exset checks the type and shape of each field of each sample, without reading values. If the
    HDF5 library crashes or hangs on a file, exset reports the file and continues.
    """
    from exset.grammars.lbann.sample_list import SampleList
    from exset.runtime.lbann.listed_samples import ListedSamples
    from exset.runtime.lbann.schema_check import check_files

    def pairs() -> "Iterator[Pair]":
        if sample is not None:
            yield sample
        for path in lists:
            for chunk in common.chunks(path, SampleList):
                yield from chunk

    schemas = [_load(path, common) for path in (data, experiment)]
    samples = ListedSamples(pairs())
    if not len(samples):
        usage_error("no samples to check: name a LIST, or use --sample")
    probing = common.showing("checking").probing
    common.findings.add_all(check_files(samples, *schemas, compat=compat, **probing))
    failed = common.findings.worst is Severity.ERROR
    name = counted(len(samples), "sample")
    lines = verdict(name, common.findings, failed, "", common.verbosity < 0)
    return Report({}, common.findings, lines, shown=0, failed=failed)


@schema.command()
@files_argument("paths", "FILE...")
@output_option("schema", "Write the data schema to this file (default: standard output).")
@option("--experiment", metavar="FILE", help="Also write an experiment schema to this file.")
@option(
    "--pack",
    "packs",
    metavar="GROUP=PATH",
    multiple=True,
    help="Pack the fields below PATH into GROUP; repeat the option for more paths or groups.",
)
@option(
    "--normalise",
    type=click.Choice(["range", "unit"]),
    help="Add scale and bias to each field; range: values from 0 to 1; unit: mean 0 and standard"
    " deviation 1. exset reads all values for this.",
)
@option("--sample", metavar="ID", help="Use this sample of the first file as the prototype.")
@option("--partial", is_flag=True, help="Replace an old schema even if files cannot be read.")
@json_option(
    *("fields", "samples", "prototype", "counts", "findings"),
    file="output",
    experiment="experiment",
)
@access_options
@common_options
@jobs_options
def build(
    paths: Sequence[str],
    sample: str | None,
    normalise: Literal["range", "unit"] | None,
    output: str,
    experiment: str | None,
    packs: tuple[str, ...],
    partial: bool,
    common: CommonOptions,
) -> Report:
    """Build a data schema of the samples in HDF5 files and folders.

    \b
      exset schema build data/ -o data.yaml
      exset schema build data/ -o data.yaml --experiment exp.yaml --pack all=in

    If some files cannot be read, the exit code is 1, and the schema describes only the other files.
    In this case, exset replaces existing schemas only with --partial.
    """
    refuse_json_in_data(output)
    pairs = [pack.partition("=") for pack in packs]
    if not all(group and path.strip("/") for group, _, path in pairs):
        usage_error("--pack must be of the form GROUP=PATH")
    if pairs and experiment is None:
        usage_error("--pack needs --experiment")
    common.prepare("exset.runtime.lbann.hdf5_search")
    from exset.runtime.lbann import schema_build
    from exset.runtime.lbann.hdf5_files import files_in

    probing = common.showing("searching").probing
    built = schema_build.build(files_in(paths), sample, normalise=normalise, **probing)
    findings = built.findings
    with with_source_name(experiment or output):
        groups = ((group, path) for group, _, path in pairs)
        experiment_schema = schema_build.experiment(
            built.schema, groups, text=built.text, findings=findings
        )
    if common.strict:
        common.new_findings(findings)
    failed = is_incomplete(findings, [output, experiment], partial, common.verbosity)
    if json_rows() is None:
        show_findings(findings, common.verbosity)
    files.write(output, api.dumps(built.schema, format="schema"))
    if experiment is not None:
        files.write(experiment, api.dumps(experiment_schema, format="schema"))
    prototype = safe(built.prototype.sample)
    row = {"fields": len(built.schema), "samples": built.samples, "prototype": prototype}
    fields, samples = counted(len(built.schema), "field"), counted(built.samples, "sample")
    status = [f"{fields}, as in the sample {prototype}; found in {samples} in all"]
    return Report(row, findings, status=status, shown=0, failed=failed)


def _load(path: str, common: CommonOptions) -> "Schema":
    """Read the schema at a path. Options for readers of sample lists are not used."""
    from exset.grammars.lbann.schema import Schema

    return api.load(path, model=Schema, format="schema", **common.reading)
