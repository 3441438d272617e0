"""The output of `exset validate`: text, JSON lines, or a report for another tool."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import click

from exset.cli.each_file import FileResult, Result
from exset.cli.inputs import CommonOptions
from exset.cli.options import option, options
from exset.cli.output import Exit, argument_errors, data_error, require_option, usage_error
from exset.cli.report_files import forms_of, report_option, write_report
from exset.cli.reports import as_finding, json_option, json_rows, tally_text, use_json, verdict
from exset.core.errors import Finding, Findings, FormatError
from exset.core.text import counted, safe

if TYPE_CHECKING:
    from exset.baseline import Baseline
    from exset.reports.checks import CheckedFile

_REPORTS: Final = ("github", "sarif", "junit")
_FORMS: Final = ("text", "json", *_REPORTS)
_BY_FINDING: Final = ("github", "sarif")
"""The reports with an entry for each finding; other reports have one for each file."""


@dataclass
class CheckOutput:
    """What `exset validate` writes.

    `form`: the form of standard output, one of `_FORMS`. `reports`: the files to write, by form.
    """

    common: CommonOptions
    form: str
    reports: dict[str, str]
    baseline: "Baseline | None" = None
    update: bool = False
    _files: "list[CheckedFile]" = field(default_factory=list)
    _explained: set[str] = field(default_factory=set)

    def new(self, path: str, result: Result) -> Result:
        """Return the result of a file without the findings that are in the baseline."""
        if self.baseline is None:
            return result
        found = self.baseline.new(path, result.findings)
        if self.update:
            found = Findings()
        return replace(result, findings=found, exit=self.common.exit_of(found))

    def show(self, path: str, result: FileResult) -> None:
        """Write the result of a file, or keep it for the report."""
        findings, failed = result.findings, result.exit is not Exit.OK
        self._keep(path, findings, failed)
        if self.form in _REPORTS:
            return
        name = "<stdin>" if path == "-" else path
        details = self._explanations(findings) if self.common.verbosity > 0 else ()
        quiet = self.common.verbosity < 0
        for line in verdict(name, findings, failed, tally_text(findings), quiet, details):
            click.echo(line)

    def fail(self, path: str, error: FormatError | OSError) -> None:
        """Store the error of a file that cannot be checked, for the report."""
        self._keep(path, Findings(), True, as_finding(error))

    def finish(self) -> None:
        """Write the reports; if the user wants to update the baseline, write it, too."""
        reports = self._all_reports()
        if reports:
            from exset.reports.checks import files_run, findings_run

            for form, path in reports:
                run = findings_run if form in _BY_FINDING else files_run
                write_report(run(self._files), form, path)
        if self.baseline is None:
            return
        if self.update:
            known = self.baseline.save()
            if self.common.verbosity >= 0:
                click.echo(f"{safe(self.baseline.path)}: {counted(known, 'finding')}", err=True)
        elif self.baseline.gone and self.common.verbosity >= 0:
            name = safe(self.baseline.path)
            gone = f"known findings that no longer occur: {self.baseline.gone:,}"
            click.echo(f"{name}: {gone}; remove them with --update-baseline", err=True)

    def _keep(
        self, path: str, findings: Findings, failed: bool, error: Finding | None = None
    ) -> None:
        """Store the result of a file, if a report will be written.

        failed: whether the file counts as wrong. error: the error that ended the check, if any.
        """
        if not self._all_reports():
            return
        from exset.reports.checks import CheckedFile

        self._files.append(CheckedFile(path, findings, failed, error))

    def _all_reports(self) -> list[tuple[str, str]]:
        """Return the reports to write, as pairs of a form and a file; "" is standard output."""
        return [*self.reports.items(), *([(self.form, "")] if self.form in _REPORTS else [])]

    def _explanations(self, findings: Findings) -> list[str]:
        """Return the explanations, as lines, of the codes that were not explained before.

        exset skips codes of other packages that it does not know.
        """
        from exset.explain import codes, explain

        lines: list[str] = []
        for code in dict.fromkeys(finding.code for finding in findings):
            if code in codes() and code not in self._explained:
                self._explained.add(code)
                lines += explain(code).lines()
        return lines


def _chosen(ctx: click.Context, param: click.Parameter, form: str | None) -> str:
    """Return the form of the output that the user chose; `--json` means `json`."""
    if form == "json":
        use_json(ctx)
    elif form is not None and json_rows() is not None:
        usage_error("--json and --output-format cannot be combined")
    return form or "text"


output_options = options(
    json_option(),
    option(
        "--output-format",
        "form",
        type=click.Choice(_FORMS),
        callback=_chosen,
        help="Print findings as text, as JSON lines, or as a report for a CI system.",
    ),
    report_option,
    option(
        "--baseline",
        metavar="FILE",
        help="Report only findings that are not in this file of known findings.",
    ),
    option(
        "--update-baseline",
        is_flag=True,
        help="Replace the findings in the file of --baseline by the current findings.",
    ),
)
"""Add the options for the output of a check."""


def check_output(
    common: CommonOptions, form: str, reports: Sequence[str], baseline: str | None, update: bool
) -> CheckOutput:
    """Return the object that writes the output, from the values of `output_options`.

    If there is a baseline, this reads it.
    """
    with argument_errors():
        further = forms_of(reports)
    if unnamed := [report for report, path in further.items() if not path]:
        usage_error(
            f"--report needs a file: write --report {unnamed[0]}=FILE, or"
            f" --output-format {unnamed[0]} for standard output"
        )
    if baseline is None:
        if update:
            require_option("--baseline", "update_baseline")
        return CheckOutput(common, form, further)
    from exset.baseline import Baseline

    try:
        known = Baseline.read(baseline)
    except FileNotFoundError:
        if not update:
            data_error(f"{safe(baseline)} does not exist: write it with --update-baseline")
        known = Baseline(baseline)
    return CheckOutput(common, form, further, known, update)
