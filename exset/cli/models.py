"""What the verbs of one family share: to read a model of its class, and to write one."""

from collections.abc import Callable
from typing import TypeVar

import click

from exset import api, files, formats
from exset.cli.frame import lines, put, say, tally, wrong
from exset.cli.reading import json_option, wants_json, write_one
from exset.errors import Findings, safe
from exset.limits import Limits
from exset.protocols import Model, Option

M = TypeVar("M", bound=Model)

Command = TypeVar("Command", bound=Callable[..., object])


def output_option(command: Command) -> Command:
    """Add `-o`, and `--json`, which `write` looks at."""
    output = click.option(
        "-o", "--output", metavar="FILE", default="-", help="Where to write (standard output)."
    )
    keys = ("format", "units", "counts", "findings")
    return output(json_option(*keys, file="output")(command))


def read(
    path: str,
    model: type[M],
    reading: dict[str, Option],
    limits: Limits,
    findings: Findings,
    format: str | None = None,
) -> M:
    """Read a file that must hold such a model, as a format if one is said."""
    return api.load(
        path,
        model=model,
        format=format,
        strict=False,
        limits=limits,
        findings=findings,
        engine="auto",
        **reading,
    )


def write(
    model: Model, format: str, output: str, findings: Findings, *, shown: int, said: str
) -> None:
    """Write a model, and tell what was found on the way and how much was written.

    shown: how many findings of each kind are told; said: how much it is.
    """
    data = api.dumps(model, format=format, findings=findings)
    if wants_json():
        if output == "-":
            wrong("--json would stand among the data on standard output: say -o FILE")
        files.write(output, data)
        rows = [finding.to_dict() for finding in findings]
        row = {"file": output, "format": format, "units": len(model)}
        write_one({**row, "counts": tally(findings), "findings": rows})
        return
    tell(findings, shown)
    if output == "-":
        put(data, formats.get(format))
        return
    files.write(output, data)
    say(f"{safe(output)}: {said}")


def tell(findings: Findings, shown: int) -> None:
    """Tell what was found, so many findings of each kind, and no notes."""
    for line in lines(findings, shown, notes=False):
        say(line)
