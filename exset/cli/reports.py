"""Reports of the commands: findings and results, as text for people or as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import click

from exset.cli.json_rows import json_rows, tally
from exset.cli.output import Exit, write_stdout
from exset.core.errors import Finding, Findings, Severity
from exset.core.text import counted, safe
from exset.families.format import Format

SHOWN, SHOWN_VERBOSE = 3, 100
"""How many findings of each code are shown, usually and with `--verbose`."""


@dataclass
class Report:
    """The result of a command: text for people or, with `--json`, one object.

    `values` are members of the object. In text, `lines` and `data`, a file of the format `fmt`, go
    to standard output. Then follow on standard error the findings, up to `shown` of each code, and
    the lines of `status` unless `--quiet`. `failed` sets the exit code.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    findings: Findings | None = None
    lines: Iterable[str] = ()
    status: Sequence[str] = ()
    shown: int = SHOWN
    data: bytes | None = None
    fmt: Format | None = None
    failed: bool = False

    def write(self, ctx: click.Context) -> Exit:
        """Write the report, and return the exit code."""
        if (rows := json_rows()) is not None:
            rows.write(self.values, findings=self.findings, ok=not self.failed)
        else:
            for line in self.lines:
                click.echo(line)
            if self.data is not None and self.fmt is not None:
                write_stdout(self.data, self.fmt)
            verbosity = ctx.params.get("verbose", False) - ctx.params.get("quiet", False)
            if self.findings is not None:
                show_findings(self.findings, verbosity, self.shown)
            for line in self.status if verbosity >= 0 else ():
                click.echo(line, err=True)
        return Exit.BAD_FILE if self.failed else Exit.OK


def finding_lines(findings: Findings, keep: int, notes: bool = True) -> Iterator[str]:
    """Yield findings as text: the first `keep` of each code, then how many more there are."""
    seen: Counter[str] = Counter()
    for finding in findings:
        if finding.severity is Severity.NOTE and not notes:
            continue
        seen[finding.code] += 1
        if seen[finding.code] <= keep:
            yield _line(finding)
    for code in seen:
        if (more := findings.count(code) - min(seen[code], keep)) > 0:
            yield f"... and {more:,} more [{code}]"


def show_findings(findings: Findings, verbosity: int, shown: int = SHOWN) -> None:
    """Write findings to standard error: with `--verbose` notes, too; with `--quiet` none."""
    if verbosity > 0 or (verbosity == 0 and shown):
        keep = SHOWN_VERBOSE if verbosity > 0 else shown
        for line in finding_lines(findings, keep, notes=verbosity > 0):
            click.echo(line, err=True)


def tally_text(findings: Findings) -> str:
    """Return the tally as text, `1 error, 2 warnings`; empty without findings."""
    return ", ".join(
        counted(count, severity) for severity, count in tally(findings).items() if count
    )


def verdict(
    name: str,
    findings: Findings,
    failed: bool,
    summary: str,
    quiet: bool,
    explanations: Iterable[str] = (),
) -> Iterator[str]:
    """Yield what a check prints: its findings, `explanations`, and `name: ok` or `not valid`.

    `summary` follows the verdict; `quiet` leaves both out if there are no findings.
    """
    yield from finding_lines(findings, findings.keep)
    yield from explanations
    if not quiet or findings.worst is not None:
        words = ("not valid" if failed else "ok", summary)
        yield f"{safe(name)}: {', '.join(filter(None, words))}"


def _line(finding: Finding) -> str:
    """Return a finding as text; a warning or a note says so after its place."""
    text = str(finding)
    place = "" if finding.place is None else f"{finding.place}: "
    if finding.severity is Severity.ERROR or not text.startswith(place):
        return text
    return f"{place}{finding.severity}: {text[len(place) :]}"
