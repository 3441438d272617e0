"""`exset list`: make sample lists, and put them in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from exset.cli import models
from exset.cli.common import BAD, FINE, access_options, jobs_option, progress, say, wrong
from exset.cli.inputs import Reading, common_options, files_argument, one_file, reading_options
from exset.core.errors import Findings, FormatError, Severity, blaming
from exset.core.text import counted
from exset.grammars.lbann.list_types import Kind
from exset.io.access import Access

if TYPE_CHECKING:
    from exset.grammars.lbann.sample_list import SampleList

FORMAT = "sample_list"
_SHOWN = 10

Command = TypeVar("Command", bound=Callable[..., object])

kinds = click.Choice([kind.value for kind in Kind if not kind.is_single], case_sensitive=False)


@click.group(name="list")
def lists() -> None:
    """Make LBANN's sample lists, and put them in another order."""


@lists.command()
@files_argument("paths", "PATH...")
@models.output_option(FORMAT)
@click.option(
    "--kind", metavar="TYPE", type=kinds, default="CONDUIT_HDF5_INCLUSION", help="The type of list."
)
@click.option("--sample", metavar="ID", help="A sample, which all others are to be like.")
@click.option("--pattern", metavar="GLOB", help="What paths of samples are like: RUN_ID/*")
@click.option(
    "--finite", metavar="FIELD", multiple=True, help="Leave out samples with NaN in this field."
)
@click.option("--directory", metavar="FOLDER", help="The base directory (the longest shared).")
@click.option("--journal", metavar="FILE", help="Keep what is found there, and go on from it.")
@access_options
@common_options
@jobs_option
@click.pass_context
def build(
    ctx: click.Context,
    paths: tuple[str, ...],
    output: str,
    kind: str,
    sample: str | None,
    pattern: str | None,
    finite: tuple[str, ...],
    directory: str | None,
    journal: str | None,
    access: Access,
    reading: Reading,
    jobs: int,
) -> None:
    """Build a list of the samples in HDF5 files and folders.

    \b
      exset list build data/ -o all.sample_list
      exset list build 'runs/*.h5' --sample run/0 --finite out -o all.sample_list

    Folders are searched to any depth. A sample is a group that holds what a prototype holds: that
    of --sample, or one that is found in the first file that can be read; or a group whose path is
    like --pattern. What is nearly a sample is told.
    """
    from exset.runtime.lbann.hdf5_files import files_in
    from exset.runtime.lbann.list_build import built, search_for, searched
    from exset.runtime.lbann.list_convert import recast

    if sample is not None and pattern is not None:
        wrong("say --sample or --pattern, not both")
    found = files_in(paths)
    findings = reading.findings()
    search = search_for(
        found,
        findings,
        sample=sample,
        pattern=pattern,
        finite=finite,
        access=access,
        limits=reading.limits,
    )
    outcomes = list(
        progress(searched(search, found, jobs=jobs, journal=journal), len(found), "searching")
    )
    try:
        with blaming(", ".join(paths)):
            samples = built(outcomes, findings, directory=directory)
    except FormatError:
        models.tell(findings, _SHOWN, reading.voice)
        raise
    samples = recast(samples, kind, findings, jobs=jobs, lossy=True)
    _write(samples, output, findings, reading.voice)
    ctx.exit(BAD if findings.worst is Severity.ERROR else FINE)


@lists.command()
@files_argument("inputs", "LIST...")
@models.output_option(FORMAT)
@click.option("--directory", metavar="FOLDER", help="The base directory (the longest shared).")
@reading_options
def merge(
    inputs: tuple[str, ...],
    output: str,
    directory: str | None,
    reading: Reading,
) -> None:
    """Merge lists into one that names each file once.

    \b
      exset list merge 'part_*.sample_list' -o all.sample_list

    It is of the type of the first.
    """
    from exset.runtime.lbann.list_order import merged

    findings = reading.findings()
    read = [_read(path, reading, findings) for path in inputs]
    with blaming(", ".join(inputs)):
        made = merged(read, findings, directory=directory, limits=reading.limits)
    _write(made, output, findings, reading.voice)


@lists.command()
@one_file
@click.option("--seed", metavar="N", type=click.IntRange(min=0), required=True, help="Which order.")
@models.output_option(FORMAT)
@reading_options
def shuffle(file: str, seed: int, output: str, reading: Reading) -> None:
    """Shuffle a list: its files, and the samples of each file.

    \b
      exset list shuffle --seed 1 all.sample_list -o shuffled.sample_list
    """
    from exset.runtime.lbann.list_order import shuffled

    findings = reading.findings()
    samples = _read(file, reading, findings)
    with blaming(file):
        mixed = shuffled(samples, seed, reading.limits)
    _write(mixed, output, findings, reading.voice)


@lists.command()
@one_file
@click.option("--ranks", metavar="N", type=click.IntRange(min=1), required=True, help="How many.")
@click.option("--keep-order", is_flag=True, help="As with LBANN's --keep_sample_order.")
@models.output_option(FORMAT)
@reading_options
def order(
    file: str,
    ranks: int,
    keep_order: bool,
    output: str,
    reading: Reading,
) -> None:
    """Write a list in the order in which N ranks would see it.

    \b
      exset list order --ranks 4 all.sample_list -o seen.sample_list

    Each rank reads every N-th file. Even with --keep-order LBANN does not always give back the
    order of the list.
    """
    from exset.runtime.lbann.list_order import rank_order

    findings = reading.findings()
    samples = _read(file, reading, findings)
    seen = samples.select_files(rank_order(samples, ranks, keep_order))
    _write(seen, output, findings, reading.voice)
    kept = seen.name == samples.select_files(samples.included > 0).name
    if reading.voice >= 0:
        order = "the order of the list" if kept else "another order"
        say(f"seen by {counted(ranks, 'rank')} in {order}")


def _read(path: str, reading: Reading, findings: Findings) -> SampleList:
    from exset.grammars.lbann.sample_list import SampleList

    return models.read(path, SampleList, reading, findings)


def _write(samples: SampleList, output: str, findings: Findings, voice: int) -> None:
    count = len(samples.name)
    said = f"{counted(len(samples), 'sample')} of {counted(count, 'file')}"
    models.write(samples, FORMAT, output, findings, shown=_SHOWN, said=said, voice=voice)
