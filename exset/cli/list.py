"""`exset list`: build, merge and reorder sample lists."""

from typing import TYPE_CHECKING, Any

import click

from exset.cli.commands import Group
from exset.cli.inputs import (
    CommonOptions,
    access_options,
    common_options,
    jobs_option,
    reading_options,
)
from exset.cli.models import model_output, written
from exset.cli.options import Whole, option, secondary_option
from exset.cli.output import progress, usage_error
from exset.cli.paths import files_argument, one_file
from exset.cli.reports import Report, show_findings
from exset.core.errors import Findings, FormatError, Severity, with_source_name
from exset.core.text import counted
from exset.grammars.lbann.list_types import Kind

if TYPE_CHECKING:
    from exset.grammars.lbann.sample_list import SampleList

FORMAT = "sample_list"
SHOWN = 10
"""The number of findings of each code that are shown by default."""

directory_option = option(
    "--directory", metavar="FOLDER", help="Set the base directory (default: longest shared)."
)


@click.group(cls=Group, name="list")
def lists() -> None:
    """Build, merge and reorder LBANN sample lists."""


@lists.command()
@files_argument("paths", "PATH...")
@model_output(FORMAT)
@option("--sample", metavar="ID", help="Find samples like this prototype.")
@option("--pattern", metavar="GLOB", help="Find samples with paths such as RUN_ID/*")
@option("--finite", metavar="FIELD", multiple=True, help="Skip samples with NaN in a field.")
@directory_option
@option("--journal", metavar="FILE", help="Save the progress to this file, and resume from it.")
@secondary_option(
    "--kind",
    metavar="TYPE",
    type=click.Choice([kind.value for kind in Kind if not kind.is_single], case_sensitive=False),
    default="CONDUIT_HDF5_INCLUSION",
    help="Write this type of list (CONDUIT_HDF5_INCLUSION).",
)
@access_options
@common_options
@jobs_option
def build(
    paths: tuple[str, ...],
    output: str,
    kind: str,
    directory: str | None,
    journal: str | None,
    common: CommonOptions,
    **options: Any,
) -> Report:
    """Build a list of the samples in HDF5 files and folders.

    \b
      exset list build data/ -o all.sample_list
      exset list build 'runs/*.h5' --sample run/0 --finite out -o all.sample_list

    exset searches folders at any depth. A sample is a group with the same fields as the prototype.
    Without --sample and --pattern, the prototype is a sample that most others are like. exset
    reports groups that are almost samples.
    """
    from exset.runtime.lbann.hdf5_files import files_in
    from exset.runtime.lbann.list_build import built, search_for
    from exset.runtime.lbann.list_convert import recast
    from exset.runtime.lbann.list_journal import searched

    if options["sample"] is not None and options["pattern"] is not None:
        usage_error("use --sample or --pattern, not both")
    files = files_in(paths)
    try:
        with with_source_name(", ".join(paths)):
            search = search_for(files, common.findings, **common.probing, **options)
            outcomes = searched(search, files, jobs=common.jobs, journal=journal)
            found = list(progress(outcomes, len(files), "searching"))
            samples = built(found, common.findings, directory=directory)
    except FormatError:
        show_findings(common.findings, common.verbosity, SHOWN)
        raise
    samples = recast(samples, kind, common.findings, jobs=common.jobs, lossy=True)
    report = _written(samples, output, common.findings)
    report.failed = common.findings.worst is Severity.ERROR
    return report


@lists.command()
@files_argument("inputs", "LIST...")
@model_output(FORMAT)
@directory_option
@reading_options
def merge(
    inputs: tuple[str, ...], output: str, directory: str | None, common: CommonOptions
) -> Report:
    """Merge lists into one that names each file once.

    \b
      exset list merge 'part_*.sample_list' -o all.sample_list

    The result has the type of the first list.
    """
    from exset.grammars.lbann.sample_list import SampleList
    from exset.runtime.lbann.list_merge import merged

    parts = [common.load_model(path, SampleList) for path in inputs]
    with with_source_name(", ".join(inputs)):
        samples = merged(parts, common.findings, directory=directory, limits=common.limits)
    return _written(samples, output, common.findings)


@lists.command()
@one_file
@option("--seed", type=Whole(0), required=True, help="Use this seed.")
@model_output(FORMAT)
@reading_options
def shuffle(file: str, seed: int, output: str, common: CommonOptions) -> Report:
    """Shuffle the files of a list, and the samples of each file.

    \b
      exset list shuffle --seed 1 all.sample_list -o shuffled.sample_list
    """
    from exset.grammars.lbann.sample_list import SampleList
    from exset.runtime.lbann.list_order import shuffled

    samples = common.load_model(file, SampleList)
    with with_source_name(file):
        samples = shuffled(samples, seed, common.limits)
    return _written(samples, output, common.findings)


@lists.command()
@one_file
@option("--ranks", type=Whole(1), required=True, help="Number of ranks.")
@option("--keep-order", is_flag=True, help="Simulate LBANN's --keep_sample_order.")
@model_output(FORMAT)
@reading_options
def order(file: str, ranks: int, keep_order: bool, output: str, common: CommonOptions) -> Report:
    """Write a list in the order in which N ranks of LBANN read it.

    \b
      exset list order --ranks 4 all.sample_list -o seen.sample_list

    Each rank reads every N-th file. Even with --keep-order, LBANN sometimes changes the order.
    """
    from exset.grammars.lbann.sample_list import SampleList
    from exset.runtime.lbann.list_order import rank_order

    samples = common.load_model(file, SampleList)
    seen = samples.select_files(rank_order(samples, ranks, keep_order))
    same = seen.name == samples.select_files(samples.included > 0).name
    report = _written(seen, output, common.findings)
    by = counted(ranks, "rank")
    report.status = [*report.status, f"read by {by} in {'the same' if same else 'another'} order"]
    return report


def _written(samples: "SampleList", output: str, findings: Findings) -> Report:
    size = f"{counted(len(samples), 'sample')} of {counted(len(samples.name), 'file')}"
    return written(samples, FORMAT, output, findings, size, SHOWN)
