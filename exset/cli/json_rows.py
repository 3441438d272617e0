"""The JSON of the commands: one object a line, with the same members each time."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import click

from exset.cli.options import Decorator
from exset.core.errors import Finding, Findings, FormatError, Place, Severity

SCHEMA = 1
"""The version of what `--json` writes; it changes when a key goes or gets another meaning."""

_META = "exset.cli.json"


def json_option(*keys: str, **parameters: str) -> Decorator:
    """Add `--json`, which writes one object a line; `json_rows` returns their writer.

    `keys` are the members of an object after `schema`, `ok`, `error` and those of `parameters`,
    which maps members to the parameters whose values they have. If the command fails, the object
    has the same members, null where no value is known.
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
        help="Write JSON, one object a line.",
    )


@dataclass(frozen=True)
class JsonRows:
    """Writes JSON objects that all have the same members, declared as in `json_option`."""

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
        """Write an object."""
        given = {key: self.ctx.params.get(name) for key, name in self.parameters.items()}
        found = {} if findings is None else findings_row(findings)
        head = {"schema": SCHEMA, "ok": ok, "error": error}
        write_row({**head, **given, **dict.fromkeys(self.keys), **values, **found})


def json_rows() -> JsonRows | None:
    """Return the writer of JSON objects; None without `--json`."""
    rows: JsonRows | None = click.get_current_context().meta.get(_META)
    return rows


def write_failure(error: FormatError | OSError) -> None:
    """With `--json`, write an object that says why the command failed."""
    rows = json_rows()
    if rows is not None and rows.keys:
        with suppress(OSError):  # perhaps the error itself: standard output is full
            rows.write({}, ok=False, error=as_finding(error).to_dict())


def write_row(row: Mapping[str, object]) -> None:
    """Write a JSON object as a line of ASCII, so that nothing in it controls a terminal."""
    import json

    click.echo(json.dumps(row, allow_nan=False))


def findings_row(findings: Findings) -> dict[str, object]:
    """Return the members with which the object of every command that reads ends."""
    return {"counts": tally(findings), "findings": [finding.to_dict() for finding in findings]}


def tally(findings: Findings) -> dict[Severity, int]:
    """Return how many findings of each severity there are, kept or not."""
    counts = dict.fromkeys(Severity, 0)
    for code, severity in {finding.code: finding.severity for finding in findings}.items():
        counts[severity] += findings.count(code)
    return counts


def as_finding(error: FormatError | OSError) -> Finding:
    """Return an error as a finding; an error of the system has the code `system`."""
    if isinstance(error, FormatError):
        return error.finding
    place = None if error.filename is None else Place.of(os.fsdecode(error.filename))
    return Finding("system", Severity.ERROR, error.strerror or str(error), place)
