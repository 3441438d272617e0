"""`exset config`: what a configuration of aeon's loader means, and the JSON Schema of all."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from exset.cli import models
from exset.cli.inputs import (
    Reading,
    found,
    json_option,
    one_file,
    reading_options,
    wants_json,
    write_one,
)
from exset.core.errors import safe

if TYPE_CHECKING:
    from exset.grammars.aeon.config.model import LoaderConfig
    from exset.grammars.aeon.config.settings import Settings

FORMAT = "loader_config"
_SHOWN = 3


@click.group()
def config() -> None:
    """Look at configurations of aeon's loader."""


@config.command()
@one_file
@json_option("dialect", "given", "members", "outputs", "counts", "findings", file="file")
@reading_options
def show(file: str, reading: Reading) -> None:
    """Show every member, and the arrays of a batch.

    \b
      exset config show config.json

    Defaults stand in brackets.
    """
    from exset.grammars.aeon.config.model import LoaderConfig

    findings = reading.findings()
    read = models.read(file, LoaderConfig, reading, findings, format=FORMAT)
    if wants_json():
        write_one({"file": file, **_row(read), **found(findings)})
        return
    for line in _shown(read):
        click.echo(safe(line))
    models.tell(findings, _SHOWN, reading.voice)


@config.command()
def schema() -> None:
    """Write the JSON Schema of configurations, for editors.

    \b
      exset config schema > loader_config.schema.json
    """
    from exset.grammars.aeon.config.json_schema import text

    click.echo(text(), nl=False)


def _row(read: "LoaderConfig") -> dict[str, object]:
    return {
        "dialect": read.dialect,
        "given": read.to_dict(),
        "members": read.settings.to_dict(defaults=True),
        "outputs": [output.to_dict() for output in read.outputs],
    }


def _shown(read: "LoaderConfig") -> Iterator[str]:
    from exset.grammars.aeon.config.schema_types import TITLES

    yield f"{read.dialect}: as {TITLES[read.dialect]} reads it"
    yield from _members(read.settings, "")
    yield "a batch"
    for output in read.outputs:
        axes = " ".join(f"{a}={n}" for a, n in zip(output.axes, output.shape, strict=True))
        yield f"  {output.name:<24} {output.dtype:<9} N {axes}"


def _members(settings: "Settings", indent: str) -> "Iterator[str]":
    from exset.grammars.aeon.config.settings import plain

    for member, value in settings.values():
        inner = settings.objects(member.name) if member.table else ()
        if inner:
            for number, each in enumerate(inner):
                at = f"[{number}]" if member.kind == "objects" else ""
                yield f"{indent}  {member.name}{at} {each.type}".rstrip()
                yield from _members(each, indent + "  ")
            continue
        text = json.dumps(plain(value, member.kind), ensure_ascii=False)
        shown = text if member.name in settings.given else f"[{text}]"
        yield f"{indent}  {member.name:<{24 - len(indent)}} {shown:<20} {member.about}".rstrip()
