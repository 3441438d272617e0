"""`exset validate`: check files, and the files that they name."""

from collections.abc import Sequence

import click

from exset.cli import format_options
from exset.cli.check_output import check_output, output_options
from exset.cli.checking import Check
from exset.cli.dividing import PartResult
from exset.cli.each_file import for_each_file
from exset.cli.executions import jobs_options
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import (
    CommonOptions,
    access_options,
    base_option,
    reading_options,
)
from exset.cli.options import option
from exset.cli.output import data_errors, require_option, usage_error
from exset.cli.paths import some_files
from exset.core.jobs import Execution


@click.command(cls=FormatCommand)
@some_files
@option(
    "--files",
    "check_files",
    is_flag=True,
    help="Also check the files at the paths in FILE.",
)
@option(
    "--decode",
    is_flag=True,
    help="With --files, also decode each record of a loader configuration.",
)
@output_options
@base_option
@access_options
@format_options.check_options
@reading_options
@jobs_options
def validate(
    files: Sequence[str],
    check_files: bool,
    decode: bool,
    form: str,
    reports: tuple[str, ...],
    baseline: str | None,
    update_baseline: bool,
    base: str,
    common: CommonOptions,
) -> int:
    """Check files: errors and likely mistakes.

    \b
      exset validate train.ex test.ex
      exset validate --files --root /data all.sample_list
      exset validate --json @files.txt > report.jsonl
      exset validate --output-format github --baseline old.json '*.ex'
      exset validate --report sarif=exset.sarif --report junit=exset.xml '*.ex'

    With -v, exset explains each kind of finding. With -q, it prints nothing about files without
    findings. exset reads large Lens files and manifests in chunks, up to the first error.
    """
    if not check_files:
        names = ("base", "roots", "follow_links", "allow_plugins", "no_locking", "decode")
        require_option("--files", *names)
    if decode:
        from exset.runtime.aeon.provision.opencv import opencv

        with data_errors(ImportError):
            opencv()
    output = check_output(common, form, reports, baseline, update_baseline)
    # The work is that on several files, or on the files that a single file names.
    is_inner = check_files and len(files) == 1
    inner = Execution(isolated=common.jobs.workers < 2)
    check = Check(
        common,
        base if check_files else None,
        common.showing("checking").isolated if is_inner else inner,
        decode,
        {**common.options, **format_options.values("check")},
    )
    code = for_each_file(
        check,
        files,
        row=lambda path, result: {"stopped": None if result is None else result.findings.stopped},
        show=output.show,
        change=output.new,
        failed=output.fail,
        jobs=Execution() if is_inner else common.jobs,
        action="checking",
        measured=not check_files,
        returns=PartResult,
        divider=check,
    )
    output.finish()
    if is_inner and common.jobs.plan:
        usage_error("--plan needs several files, or one list of HDF5 files")
    return code
