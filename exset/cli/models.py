"""What the verbs of one family share: to read a model of its class, and to write one."""

from collections.abc import Callable
from typing import TypeVar

import click

from exset import api, formats
from exset.cli.common import ALL, lines, put, say, wrong
from exset.cli.inputs import Reading, found, json_option, wants_json, write_one
from exset.core.errors import Findings, safe
from exset.core.protocols import Model
from exset.io import files

M = TypeVar("M", bound=Model)

Command = TypeVar("Command", bound=Callable[..., object])


def output_option(format: str) -> Callable[[Command], Command]:
    """Add `-o`, where to write this format, and `--json`, which `write` looks at."""
    output = output_file(format, "Where to write (standard output).")
    keys = ("format", "units", "counts", "findings")
    return lambda command: output(json_option(*keys, file="output")(command))


def output_file(format: str, help: str) -> Callable[[Command], Command]:
    """Add `-o`, where to write this format."""
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        default="-",
        callback=lambda ctx, param, name: _named_so(name, format),
        help=help,
    )


def _named_so(name: str, format: str) -> str:
    """Return the name of a file; a usage error if its suffix is that of another format."""
    other = formats.by_suffix(name)
    if other is not None and other.name != format:
        wrong(f"{safe(name)}: the suffix is that of another format than {format}: {other.title}")
    return name


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
