"""`exset config`: show configurations of aeon's loader, and print their JSON Schema."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from exset.cli.commands import Group
from exset.cli.inputs import CommonOptions, reading_options_of
from exset.cli.paths import one_file
from exset.cli.reports import Report, json_option
from exset.core.text import safe
from exset.io.named import open_named

if TYPE_CHECKING:
    from exset.grammars.aeon.config.model import LoaderConfig
    from exset.grammars.aeon.config.outputs import Output
    from exset.grammars.aeon.config.settings import Settings

_Row: TypeAlias = tuple[str, str, str]
"""A member, its value, and what it means."""

_WIDEST: Final = 20


@click.group(cls=Group)
def config() -> None:
    """Show configurations of aeon's loader, and their JSON Schema."""


@config.command()
@one_file
@json_option("dialect", "given", "members", "outputs", "counts", "findings", file="file")
@reading_options_of("loader_config")
def show(file: str, common: CommonOptions) -> Report:
    """Show all members of a configuration, and the arrays of a batch.

    \b
      exset config show config.json

    exset prints default values in brackets.
    """
    from exset.grammars.aeon.config.model import LoaderConfig

    config = common.load_model(file, LoaderConfig, format="loader_config")
    row = {
        "dialect": config.dialect,
        "given": config.to_dict(),
        "members": config.settings.to_dict(defaults=True),
        "outputs": [output.to_dict() for output in config.outputs],
    }
    return Report(row, common.findings, map(safe, _lines(config)))


@config.command()
def schema() -> None:
    """Print the JSON Schema of configurations, for editors.

    \b
      exset config schema > loader_config.schema.json
    """
    from exset.grammars.aeon.config.schema import JSON_SCHEMA

    with open_named(JSON_SCHEMA, "rb") as file:
        click.echo(file.read().decode(), nl=False)


def _lines(config: "LoaderConfig") -> Iterator[str]:
    from exset.grammars.aeon.config.schema_types import TITLES

    yield f"dialect {config.dialect}: {TITLES[config.dialect]} (default values in brackets)"
    yield from _aligned(list(_members(config.settings, "  ")))
    yield "outputs of a batch of N records: name, type of numbers, size of each axis"
    outputs = []
    for output, meant in zip(config.outputs, config.meant_outputs, strict=True):
        axes = _axes(output) if meant == output else f"{_axes(output)} (exset: {_axes(meant)})"
        outputs.append((f"  {output.name}", output.dtype, f"records=N {axes}"))
    yield from _aligned(outputs)


def _axes(output: "Output") -> str:
    names = ("values" if axis.isdigit() else axis for axis in output.axes)
    return " ".join(f"{name}={size}" for name, size in zip(names, output.shape, strict=True))


def _aligned(rows: "list[_Row]") -> Iterator[str]:
    """Yield rows as lines with three aligned columns.

    If a value is longer than its column, only the rest of its line moves to the right.
    """
    name_width = max((len(name) for name, *_ in rows), default=0)
    widths = [len(value) for _, value, _ in rows if len(value) <= _WIDEST]
    value_width = max(widths, default=0)
    for name, value, about in rows:
        yield f"{name:<{name_width}} {value:<{value_width}} {about}".rstrip()


def _members(settings: "Settings", indent: str) -> "Iterator[_Row]":
    from exset.grammars.aeon.config.settings import plain

    for member, value in settings.values():
        inner = settings.objects(member.name) if member.table else ()
        for number, each in enumerate(inner):
            index = f"[{number}]" if member.kind == "objects" else ""
            yield f"{indent}{member.name}{index} {each.type}", "", ""
            yield from _members(each, indent + "  ")
        if not inner:
            text = json.dumps(plain(value, member.kind), ensure_ascii=False)
            shown = text if member.name in settings.given else f"[{text}]"
            yield f"{indent}{member.name}", shown, member.about
