"""What the verbs of one family share: to read a model of its class, and to write one."""

from collections.abc import Callable
from typing import TypeVar

import click

from exset import api, files, formats
from exset.cli.frame import ALL, lines, put, say, wrong
from exset.cli.reading import Reading, found, json_option, wants_json, write_one
from exset.errors import Findings, safe
from exset.protocols import Model

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
    reading: Reading,
    findings: Findings,
    format: str | None = None,
) -> M:
    """Read a file that must hold such a model, as a format if one is said."""
    return api.load(
        path,
        model=model,
        format=reading.format or format,
        strict=False,
        limits=reading.limits,
        findings=findings,
        engine="auto",
        **reading.options,
    )


def write(
    model: Model,
    format: str,
    output: str,
    findings: Findings,
    *,
    shown: int,
    said: str,
    voice: int,
) -> None:
    """Write a model, and tell what was found on the way and how much was written.

    shown: how many findings of each kind are told; said: how much it is.
    """
    data = api.dumps(model, format=format, findings=findings)
    if wants_json():
        if output == "-":
            wrong("--json would stand among the data on standard output: say -o FILE")
        files.write(output, data)
        row = {"file": output, "format": format, "units": len(model)}
        write_one({**row, **found(findings)})
        return
    tell(findings, shown, voice)
    if output == "-":
        put(data, formats.get(format))
        return
    files.write(output, data)
    if voice >= 0:
        say(f"{safe(output)}: {said}")


def tell(findings: Findings, shown: int, voice: int) -> None:
    """Tell what was found: so many of each kind and no notes; all with -v, none with -q."""
    if voice > 0 or (voice == 0 and shown):
        for line in lines(findings, ALL if voice else shown, notes=voice > 0):
            say(line)
