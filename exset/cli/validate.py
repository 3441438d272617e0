"""`exset validate`: check files, and the files that they name."""

import click

from exset.cli.checking import Check, Checked
from exset.cli.each_file import FileResult, for_each_file
from exset.cli.executions import jobs_options
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import (
    CommonOptions,
    access_options,
    base_option,
    reading_options,
)
from exset.cli.options import option
from exset.cli.output import Exit, data_errors, require_option, usage_error
from exset.cli.paths import some_files
from exset.cli.reports import json_option, tally_text, verdict
from exset.core.errors import Findings
from exset.core.jobs import Execution


@click.command(cls=FormatCommand)
@some_files
@option("--files", "check_files", is_flag=True, help="Check the files that each FILE names, too.")
@option("--decode", is_flag=True, help="With --files, decode pictures and videos, too.")
@json_option()
@base_option
@access_options
@reading_options
@jobs_options
def validate(
    files: tuple[str, ...], check_files: bool, decode: bool, base: str, common: CommonOptions
) -> int:
    """Check files: errors and likely mistakes.

    \b
      exset validate train.ex test.ex
      exset validate --files --root /data all.sample_list
      exset validate --json @files.txt > report.jsonl

    With -v, exset explains each kind of finding. With -q, it prints nothing about files without
    findings. Large Lens files and manifests are read in chunks, up to the first error.
    """
    if not check_files:
        names = ("base", "roots", "follow_links", "allow_plugins", "no_locking", "decode")
        require_option("--files", *names)
    if decode:
        from exset.runtime.aeon.provision.opencv import opencv

        with data_errors(ImportError):
            opencv()
    explained: set[str] = set()

    def show(path: str, result: FileResult) -> None:
        findings, failed = result.findings, result.exit is not Exit.OK
        name = "<stdin>" if path == "-" else path
        details = _explanations(findings, explained) if common.verbosity > 0 else ()
        quiet = common.verbosity < 0
        for line in verdict(name, findings, failed, tally_text(findings), quiet, details):
            click.echo(line)

    # The work is that on several files, or on the files that a single file names.
    is_inner = check_files and len(files) == 1
    check = Check(
        common.in_worker,
        base if check_files else None,
        common.isolated if is_inner else Execution(isolated=common.jobs.workers < 2),
        decode,
    )
    code = for_each_file(
        check,
        files,
        row=lambda path, result: {"stopped": None if result is None else result.findings.stopped},
        show=show,
        jobs=Execution() if is_inner else common.jobs,
        action="checking",
        measured=not check_files,
        returns=Checked,
        divider=check,
    )
    if is_inner and common.jobs.plan:
        usage_error("--plan needs several files, or one list of HDF5 files")
    return code


def _explanations(findings: Findings, explained: set[str]) -> list[str]:
    """Explain each code that is not in `explained`; skip unknown codes of other packages."""
    from exset.explain import codes, explain

    lines: list[str] = []
    for code in dict.fromkeys(finding.code for finding in findings):
        if code in codes() and code not in explained:
            explained.add(code)
            lines += explain(code).lines()
    return lines
