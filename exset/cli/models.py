"""What the verbs of one family share: to read a model of its class, and to write one."""

from typing import TypeVar

import click

from exset import api, files, formats
from exset.cli.frame import lines, put, say
from exset.errors import Findings, safe
from exset.limits import Limits
from exset.protocols import Model, Option

M = TypeVar("M", bound=Model)

output_option = click.option(
    "-o", "--output", metavar="FILE", default="-", help="Where to write (standard output)."
)


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
