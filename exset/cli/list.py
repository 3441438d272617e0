"""`exset list`: build, merge, order and balance sample lists, and repack their samples."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from exset.cli.commands import Group
from exset.cli.executions import jobs_option, jobs_options
from exset.cli.inputs import (
    CommonOptions,
    access_options,
    base_option,
    common_options,
    reading_options_of,
    roots_option,
)
from exset.cli.models import is_incomplete, model_output, refuse_json_in_data, written
from exset.cli.options import Whole, option, secondary_option
from exset.cli.output import require_option, usage_error
from exset.cli.paths import files_argument, one_file
from exset.cli.reports import Report, show_findings
from exset.core import supervised
from exset.core.errors import Findings, FormatError, with_source_name
from exset.core.text import counted, safe
from exset.grammars.lbann.list_types import Kind
from exset.io import files
from exset.io.access import is_folder
from exset.io.many_paths import names_of

if TYPE_CHECKING:
    from exset.grammars.lbann.sample_list import SampleList

FORMAT = "sample_list"
SHOWN = 10
"""The number of findings of each code that are shown by default."""

directory_option = option(
    "--directory",
    metavar="FOLDER",
    help="Set the list's base directory (default: the longest path shared by all files).",
)


@click.group(cls=Group, name="list")
def lists() -> None:
    """Build and merge LBANN sample lists, and order their samples as LBANN reads them."""


@lists.command()
@files_argument("paths", "PATH...")
@model_output(FORMAT)
@option(
    "--sample",
    metavar="ID",
    help="Find samples with the same fields as this sample, the prototype.",
)
@option(
    "--pattern", metavar="GLOB", help="Find samples by a pattern of their paths, such as RUN_ID/*"
)
@option("--finite", metavar="FIELD", multiple=True, help="Skip samples with NaN in this field.")
@directory_option
@option("--partial", is_flag=True, help="Replace an old list even if files cannot be read.")
@option("--labels", metavar="FILE", help="Write the labels of a SINGLE-SAMPLE list to this file.")
@option(
    "--suffix", "suffixes", metavar=".EXT", multiple=True, help="Use only files with this suffix."
)
@option("--classes", metavar="FILE", help="Write the class names to this file.")
@secondary_option(
    "--kind",
    metavar="TYPE",
    type=click.Choice([kind.value for kind in Kind], case_sensitive=False),
    default="CONDUIT_HDF5_INCLUSION",
    help="Write this type of list (default: CONDUIT_HDF5_INCLUSION).",
)
@access_options
@common_options
@jobs_options
def build(
    paths: Sequence[str],
    output: str,
    kind: str,
    directory: str | None,
    labels: str | None,
    suffixes: tuple[str, ...],
    classes: str | None,
    partial: bool,
    common: CommonOptions,
    **options: Any,
) -> Report:
    """Build a sample list from HDF5 files and folders, or from pictures.

    \b
      exset list build data/ -o all.sample_list
      exset list build 'runs/*.h5' --sample run/0 --finite out -o all.sample_list
      exset list build pictures/ --kind SINGLE-SAMPLE --labels labels.txt
      exset list build labels.txt --kind SINGLE-SAMPLE --directory pictures/

    exset searches folders at any depth. A sample is a group with the same fields as a prototype:
    the sample of --sample, or a sample with the most common fields. exset reports groups that are
    almost samples.

    exset leaves out files that it cannot read. In this case, it replaces an existing list only with
    --partial.

    --kind SINGLE-SAMPLE makes a list of pictures. PATH may be a folder with one subfolder for each
    class: then exset writes the labels to --labels. PATH may also be a label file, which names the
    pictures.
    """
    if Kind(kind).is_single:
        require_option("a list of HDF5 files", "sample", "pattern", "finite", "partial", "journal")
        if len(paths) != 1:
            usage_error("SINGLE-SAMPLE needs one folder, or one label file")
        samples = _pictures(paths[0], directory, labels, suffixes, classes, common)
        return _written_by_build(samples, output, common, partial=True)
    require_option("--kind SINGLE-SAMPLE", "labels", "suffixes", "classes")
    if options["sample"] is not None and options["pattern"] is not None:
        usage_error("use --sample or --pattern, not both")
    common.prepare("exset.runtime.lbann.hdf5_search")
    from exset.runtime.lbann.hdf5_files import files_in
    from exset.runtime.lbann.hdf5_search import run_search
    from exset.runtime.lbann.list_build import built, search_for
    from exset.runtime.lbann.list_convert import recast

    found_files = files_in(paths)
    try:
        with with_source_name(names_of(paths)):
            search = search_for(found_files, common.findings, **common.probing, **options)
            outcomes = run_search(search, found_files, jobs=common.showing("searching").isolated)
            samples = built(found_files, outcomes, common.findings, directory=directory)
    except FormatError:
        show_findings(common.findings, common.verbosity, SHOWN)
        raise
    samples = recast(samples, kind, common.findings, jobs=common.isolated, lossy=True)
    return _written_by_build(samples, output, common, partial)


def _pictures(
    path: str,
    directory: str | None,
    labels: str | None,
    suffixes: tuple[str, ...],
    classes: str | None,
    common: CommonOptions,
) -> "SampleList":
    """Build a list of pictures from the folder or the label file `path`.

    labels, classes: the files to write the labels and the class names to; None: write none.
    directory: the base directory, if `path` is a label file. suffixes: the suffixes of the
    pictures, if `path` is a folder.
    """
    from exset.parsers.lbann.labels import render
    from exset.runtime.lbann.list_pictures import from_folder, from_labels

    if not is_folder(path):
        require_option("a folder of pictures", "labels", "suffixes", "classes")
        directory = os.path.dirname(path) or "." if directory is None else directory
        access = common.access
        return from_labels(path, directory, common.findings, access=access, limits=common.limits)
    require_option("a label file", "directory")
    lowered = [suffix.lower() for suffix in suffixes]
    made = from_folder(path, common.findings, suffixes=lowered, label_file=labels or "")
    if labels is not None and made.classes:
        files.write(labels, render(made.labels))
    if classes is not None:
        names = "".join(f"{name}\n" for name in made.classes)
        files.write(classes, names.encode("utf-8", "surrogateescape"))
    return made.samples


def _written_by_build(
    samples: "SampleList", output: str, common: CommonOptions, partial: bool
) -> Report:
    failed = is_incomplete(common.findings, [output], partial, common.verbosity)
    report = _written(samples, output, common.findings)
    report.failed = failed
    return report


@lists.command()
@files_argument("inputs", "LIST...")
@model_output(FORMAT)
@directory_option
@reading_options_of(FORMAT)
def merge(
    inputs: Sequence[str], output: str, directory: str | None, common: CommonOptions
) -> Report:
    """Merge sample lists into one list that names each file once.

    \b
      exset list merge 'part_*.sample_list' -o all.sample_list

    The result has the type of the first list.
    """
    from exset.grammars.lbann.sample_list import SampleList
    from exset.runtime.lbann.list_merge import merged

    parts = [common.load_model(path, SampleList) for path in inputs]
    with with_source_name(names_of(inputs)):
        samples = merged(parts, common.findings, directory=directory, limits=common.limits)
    return _written(samples, output, common.findings)


@lists.command()
@one_file
@option("--ranks", type=Whole(1), required=True, help="Set the number of LBANN ranks.")
@option("--keep-order", is_flag=True, help="Order as LBANN does with --keep_sample_order.")
@model_output(FORMAT)
@reading_options_of(FORMAT)
def order(file: str, ranks: int, keep_order: bool, output: str, common: CommonOptions) -> Report:
    """Write a sample list in the order in which N ranks of LBANN read it.

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
    read = f"{counted(ranks, 'rank')} of LBANN read" + ("s" if ranks == 1 else "")
    name = "the list" if file == "-" else safe(file)
    lines = [f"{read} the samples in the order of {name}"]
    if not same:
        lines = [
            f"{read} the files in the order of the new list, not in that of {name}",
            "this matters only if you match other data, such as predictions, to samples by order",
        ]
    report.status = [*report.status, *lines]
    return report


@lists.command()
@one_file
@option("--ranks", type=Whole(1), required=True, help="Set the number of LBANN ranks.")
@option(
    "--by",
    type=click.Choice(["samples", "bytes"]),
    default="samples",
    help="Balance the number of samples (default), or the sizes of the files.",
)
@base_option
@model_output(FORMAT)
@reading_options_of(FORMAT)
def balance(
    file: str, ranks: int, by: str, base: str, output: str, common: CommonOptions
) -> Report:
    """Order a sample list so that all ranks of LBANN read equal amounts.

    \b
      exset list balance --ranks 64 all.sample_list -o even.sample_list

    Each rank reads every N-th file. Files without samples are dropped.
    """
    from exset.grammars.lbann.sample_list import SampleList
    from exset.runtime.lbann.list_balance import (
        balanced_order,
        file_sizes,
        loads_of,
        sample_counts,
    )

    samples = common.load_model(file, SampleList)
    samples = samples.select_files(samples.included > 0)
    weights = sample_counts(samples) if by == "samples" else file_sizes(samples, base)
    order = balanced_order(weights, ranks)
    report = _written(samples.select_files(order), output, common.findings)
    before, after = loads_of(weights, ranks), loads_of(weights[order], ranks)
    lines = [
        f"{when} the ranks read {low:,} to {high:,} {by} each"
        for when, low, high in (
            ("before,", int(before.min()), int(before.max())),
            ("now,", int(after.min()), int(after.max())),
        )
    ]
    report.status = [*report.status, *lines]
    return report


@lists.command()
@one_file
@click.argument("folder", metavar="FOLDER")
@option("--files", type=Whole(1), required=True, help="Write N new files.")
@option(
    "--by",
    type=click.Choice(["samples", "bytes"]),
    default="samples",
    help="Give all files about the same number of samples (default) or of bytes.",
)
@base_option
@roots_option
@model_output(FORMAT)
@reading_options_of(FORMAT)
@jobs_option
def repack(
    file: str,
    folder: str,
    files: int,
    by: Literal["samples", "bytes"],
    base: str,
    output: str,
    common: CommonOptions,
) -> Report:
    """Copy the samples of a sample list evenly into new HDF5 files.

    \b
      exset list repack all.sample_list even/ --files 64 -o even.sample_list

    All new files get about the same number of samples or, with --by bytes, about the same size.
    exset reports how much the sizes differ from the mean. The samples stay in the order of the
    list. A sample keeps its fields and its path. If another sample in the new file has this path
    already, the path gets a number, as in run/0_2. FOLDER must be new or empty.
    """
    from exset.grammars.lbann.sample_list import SampleList
    from exset.runtime.lbann.list_repack import repacked

    refuse_json_in_data(output)
    samples = common.load_model(file, SampleList)
    showing = common.showing("copying")
    # A supervisor knows the damaged file better: this is the file that is open at a crash.
    jobs = showing.jobs if supervised.is_on() else showing.isolated
    probing = {**showing.probing, "jobs": jobs}
    with with_source_name(file):
        even, sizes = repacked(samples, folder, files, common.findings, by=by, base=base, **probing)
    report = _written(even, output, common.findings)
    mean = sizes.mean() or 1
    apart = max(mean - sizes.min(), sizes.max() - mean) / mean
    each = f"{int(sizes.min()):,} to {int(sizes.max()):,} {by} in each file"
    each += f", up to {apart:.1%} from the mean"
    report.status = [*report.status, each]
    return report


def _written(samples: "SampleList", output: str, findings: Findings) -> Report:
    size = f"{counted(len(samples), 'sample')} of {counted(len(samples.name), 'file')}"
    return written(samples, FORMAT, output, findings, size, SHOWN)
