"""The output of `exset conformance run`: for the terminal, and as reports."""

import json
from collections.abc import Iterator, Sequence
from typing import cast

import click

import exset
from exset.core.text import safe
from exset.reports import Row, Run
from exset.reports.rows import Status
from exset.testing.conformance import meanings
from exset.testing.conformance.cases import VERSION
from exset.testing.conformance.judge import Result, Role
from exset.testing.conformance.nodes import brief
from exset.testing.conformance.runner import score

_STATUS: dict[str, Status] = {
    "passed": "passed",
    "not judged": "skipped",
    "wrong": "failed",
    "skipped but passes": "failed",
    "crashed": "error",
    "timed out": "error",
    "unsupported": "skipped",
    "skipped": "skipped",
}

_SHOWN = 400
"""How many characters of a meaning are shown; `--keep` writes the whole meaning."""


def role_of(text: str) -> Role:
    """Return the role (decoder, encoder or transcoder) with this name."""
    return cast(Role, text)


def check_role(role: str, format: str, target: str) -> None:
    """Raise ValueError if the cases of a format cannot test this role.

    target: the format that a transcoder writes.
    """
    if role == "decoder":
        return
    if format in meanings.REQUESTS:
        raise ValueError(
            f"--role {role}: a program can only decode the cases of {format!r}: use --role decoder"
        )
    if role == "transcoder":
        source, other = exset.formats.get(format).family, exset.formats.get(target).family
        if source is not other:
            raise ValueError(
                f"--to {target}: a transcoder of {format!r} writes formats of the same family"
            )


def lines(results: Sequence[Result], verbose: bool) -> Iterator[str]:
    """Yield the lines for the terminal: how many cases of each feature pass, then the failures."""
    run = run_of("", results)
    width = max(map(len, run.by_group), default=0)
    for group, rows in run.by_group.items():
        bad = sum(row.is_bad for row in rows)
        ran = len(rows) - sum(row.status == "skipped" for row in rows)
        skipped = f", {len(rows) - ran} not counted" if ran < len(rows) else ""
        text = f"{group:<{width}}  {ran - bad} of {ran}{skipped}"
        yield click.style(text, fg="red" if bad else "green")
    for result in results:
        if result.failed or verbose:
            yield f"{result.case.id}: {result.outcome}"
            yield f"    the case: {safe(result.case.rule)}"
            yield from (f"    {safe(message)}" for message in result.messages)
    yield click.style(score(results).text, bold=True)


def found_lines(result: Result, draws: int) -> Iterator[str]:
    """Yield the lines that show the random file on which a reader is wrong.

    draws: how many files were tried.
    """
    yield f"file {draws} differs; the smallest file that does:"
    data = result.case.data
    is_text = not formats_binary(result.case.format)
    text = data.decode("utf-8", "replace") if is_text else data.hex(" ", -4)
    yield from (f"  | {safe(line)}" for line in text.splitlines())
    yield f"{result.outcome}:"
    yield from (f"    {safe(message)}" for message in result.messages)
    if result.case.meaning is not None:
        text = json.dumps(brief(result.case.meaning))
        text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
        yield f"exset reads: {safe(text)}"


def formats_binary(format: str) -> bool:
    """Return whether files of a format are binary.

    `format` may also be a kind of request, which is text.
    """
    return format not in meanings.REQUESTS and exset.formats.get(format).binary


def run_of(format: str, results: Sequence[Result]) -> Run:
    """Return the results of test cases as a `Run`, which the functions for reports take."""
    rows = [
        Row(
            name=each.case.id,
            status=_STATUS[each.outcome],
            rule=each.case.name,
            about=each.case.rule,
            groups=each.case.features,
            severity=each.case.severity,
            messages=each.messages,
            path=each.case.path,
            seconds=each.seconds,
        )
        for each in results
    ]
    title = f"exset conformance: {format}, version {VERSION}"
    return Run(title, exset.__version__, score(results).text, rows)
