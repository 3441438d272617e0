"""Reports of the commands: findings and results, as text for people or as JSON."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import click

from exset.cli.options import Decorator
from exset.cli.output import Exit, write_stdout
from exset.core.errors import STOPPED, Finding, Findings, FormatError, Place, Severity
from exset.core.text import counted, for_command_line, safe
from exset.families.format import Format

SCHEMA = 1
"""The version of the output of `--json`; it changes if a key is removed or changes its meaning."""

SHOWN, SHOWN_VERBOSE = 3, 100
"""The number of findings of each code that are shown, by default and with `--verbose`."""

_META = "exset.cli.json"


@dataclass
class Report:
    """The result of a command: it becomes text for people or, with `--json`, one JSON object.

    - `values`: the members of the object.
    - `lines`: text for standard output.
    - `data`: the bytes of a file of the format `fmt`, for standard output.
    - `status`: lines for standard error, after the findings; not written with `--quiet`.
    - `shown`: how many findings of each code to write.
    - `failed`: whether the exit code is that of a failure.
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
    """Yield findings as text: the first `keep` of each code, then how many others each code has.

    If exset stopped after too many errors, the last line says that there are more errors.
    """
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
    if findings.stopped:
        yield f"... and more: {STOPPED}"


def show_findings(findings: Findings, verbosity: int, shown: int = SHOWN) -> None:
    """Write findings to standard error: with `--verbose` also notes, with `--quiet` nothing."""
    if verbosity > 0 or (verbosity == 0 and shown):
        keep = SHOWN_VERBOSE if verbosity > 0 else shown
        for line in finding_lines(findings, keep, notes=verbosity > 0):
            click.echo(line, err=True)


def tally_text(findings: Findings) -> str:
    """Return how many findings each severity has: `1 error, 2 warnings`, or "" without findings."""
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
    """Yield the lines of a check: findings, `explanations`, and the verdict `NAME: ok, SUMMARY`.

    If `failed`, the verdict is "not valid". With `quiet` and without findings, there is no verdict.
    """
    yield from finding_lines(findings, findings.keep)
    yield from explanations
    if not quiet or findings.worst is not None:
        words = ("not valid" if failed else "ok", summary)
        yield f"{safe(name)}: {', '.join(filter(None, words))}"


def _line(finding: Finding) -> str:
    """Return a finding as text, with the word `warning` or `note` after its place."""
    text = str(finding.for_command_line())
    place = "" if finding.place is None else f"{finding.place}: "
    if finding.severity is Severity.ERROR or not text.startswith(place):
        return text
    return f"{place}{finding.severity}: {text[len(place) :]}"


def json_option(*keys: str, **parameters: str) -> Decorator:
    """Add `--json`, which writes one object on each line; `json_rows` returns the writer.

    An object has the members `schema`, `ok` and `error`, then those of `parameters`, then `keys`.
    `parameters` has, for each member, the name of the command's parameter that gives its value. If
    the command fails, the object has the same members, with null for unknown values.
    """

    def remember(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
        if is_set:
            ctx.meta[_META] = JsonRows(ctx, keys, parameters)

    return click.option(
        "--json",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=remember,
        help="Print results as JSON, one object per line.",
    )


def use_json(ctx: click.Context) -> None:
    """Let the command write JSON, as if the user had set `--json`."""
    ctx.meta[_META] = JsonRows(ctx, (), {})


@dataclass(frozen=True)
class JsonRows:
    """Writes JSON objects that all have the same members; see `json_option`."""

    ctx: click.Context
    keys: tuple[str, ...]
    parameters: Mapping[str, str]

    def write(
        self,
        values: Mapping[str, object],
        *,
        findings: Findings | None = None,
        ok: bool = True,
        error: object = None,
    ) -> None:
        """Write an object with `values`, the members for `findings`, and null for all others."""
        given = {key: self.ctx.params.get(name) for key, name in self.parameters.items()}
        found = {} if findings is None else findings_row(findings)
        head = {"schema": SCHEMA, "ok": ok, "error": error}
        write_row({**head, **given, **dict.fromkeys(self.keys), **values, **found})


def json_rows() -> JsonRows | None:
    """Return the writer of JSON objects. Return None if the user did not set `--json`."""
    rows: JsonRows | None = click.get_current_context().meta.get(_META)
    return rows


def write_failure(error: FormatError | OSError) -> None:
    """With `--json`, write an object with the reason why the command failed."""
    rows = json_rows()
    if rows is not None and rows.keys:
        with suppress(OSError):  # this may be the error itself: standard output is full
            rows.write({}, ok=False, error=as_finding(error).to_dict())


def write_row(row: Mapping[str, object]) -> None:
    """Write a JSON object as a line."""
    from exset.cli.json_text import line_of

    click.echo(line_of(row))


def findings_row(findings: Findings) -> dict[str, object]:
    """Return the JSON members `counts` and `findings`; many commands have them at the end."""
    return {
        "counts": tally(findings),
        "findings": [each.for_command_line().to_dict() for each in findings],
    }


def tally(findings: Findings) -> dict[Severity, int]:
    """Return the number of findings of each severity; those not kept are counted, too."""
    counts = dict.fromkeys(Severity, 0)
    for code, severity in {finding.code: finding.severity for finding in findings}.items():
        counts[severity] += findings.count(code)
    return counts


def as_finding(error: FormatError | OSError) -> Finding:
    """Return an error as a finding. An error of the system gets the code `system`."""
    if isinstance(error, FormatError):
        return error.finding.for_command_line()
    place = None if error.filename is None else Place(os.fsdecode(error.filename))
    message = for_command_line(error.strerror or str(error))
    return Finding("system", Severity.ERROR, message, place)
