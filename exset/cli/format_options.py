"""The options of formats on the command line, made from the records of the formats."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from exset import formats
from exset.cli import commands
from exset.core.protocols import OptionValue
from exset.families.format import Format, Option

Command = TypeVar("Command", bound=Callable[..., object])


class FormatOption(commands.Option):
    """An option of one format or more. `values` returns the values that the user set."""

    def __init__(self, declarations: list[str], *, writing: bool, **attributes: Any) -> None:
        """Keep the value in click's `meta`; no command takes it as an argument."""
        self.writing = writing
        self.section = "Options of formats" if writing else commands.SecondaryOption.section
        super().__init__(declarations, expose_value=False, callback=_keep, **attributes)


class FormatCommand(commands.Command):
    """A verb for files of any format: it also takes the options of other packages' formats.

    Other packages are loaded for `--help`, for completion, and for an option that exset lacks.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and parse them again if another package may have an option."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            if not self._load_plugins():
                raise
            return super().parse_args(ctx, given)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of other packages, too."""
        self._load_plugins()
        super().format_options(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete the options of other packages, too."""
        self._load_plugins()
        return super().shell_complete(ctx, incomplete)

    def _load_plugins(self) -> bool:
        """Add the options of other packages' formats; return whether there are any."""
        taken = {name for param in self.params for name in param.opts}
        writes = any(isinstance(param, FormatOption) and param.writing for param in self.params)
        added = [
            FormatOption(names, **attributes)
            for writing in {False, writes}
            for names, attributes in _declared(formats.load_plugins(), writing=writing)
            if taken.isdisjoint(names)
        ]
        self.params += added
        return bool(added)


def read_options(command: Command) -> Command:
    """Add the options of all readers; `values(writing=False)` returns what was given."""
    return _add(command, writing=False)


def write_options(command: Command) -> Command:
    """Add the options of all writers; `values(writing=True)` returns what was given."""
    return _add(command, writing=True)


def values(*, writing: bool) -> dict[str, OptionValue]:
    """Return the options of formats that the user set."""
    found: dict[str, OptionValue] = click.get_current_context().meta.get(_key(writing), {})
    return dict(found)


def switch(name: str, *, writing: bool) -> str:
    """Return the command line's name of an option of a format.

    An option of readers is `--from-NAME` if writers have an option of the same name.
    """
    both = any(fmt.option(name) for fmt in formats.all_formats())
    prefix = "" if writing or not both else "from-"
    return f"--{prefix}{name.replace('_', '-')}"


def _add(command: Command, *, writing: bool) -> Command:
    for names, attributes in reversed(_declared(formats.FORMATS, writing=writing)):
        command = click.option(*names, cls=FormatOption, **attributes)(command)
    return command


def _declared(among: Iterable[Format], *, writing: bool) -> list[tuple[list[str], dict[str, Any]]]:
    """Return the options of some formats as `FormatOption` takes them; one for each name."""
    same_name: dict[str, list[Option]] = {}
    for fmt in among:
        for option in fmt.options if writing else fmt.read_options:
            same_name.setdefault(option.name, []).append(option)
    return [
        (
            [switch(name, writing=writing), f"{'write' if writing else 'read'}_{name}"],
            {
                "writing": writing,
                "is_flag": options[0].is_flag,
                "metavar": options[0].metavar or None,
                "type": _type(options),
                "help": _help(options),
            },
        )
        for name, options in same_name.items()
    ]


def _help(options: list[Option]) -> str:
    text = " ".join(dict.fromkeys(option.help for option in options))
    defaults = dict.fromkeys(option.default for option in options if option.default)
    return f"{text.removesuffix('.')} (default: {', '.join(defaults)})." if defaults else text


def _type(options: list[Option]) -> click.ParamType[Any] | None:
    choices = dict.fromkeys(choice for option in options for choice in option.choices)
    return _Choice(options[0].name, list(choices)) if choices else None


class _Choice(click.Choice[str]):
    """The choices of exset's formats; a format of another package may have more."""

    def __init__(self, option: str, choices: list[str]) -> None:
        super().__init__(choices, case_sensitive=False)
        self._option = option

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return one of the choices, as it is written in the record."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            for fmt in formats.load_plugins():
                for option in (*fmt.options, *fmt.read_options):
                    if option.name == self._option and value in option.choices:
                        return value
            raise


def _key(writing: bool) -> str:
    return f"exset.cli.format_options.{'write' if writing else 'read'}"


def _keep(ctx: click.Context, param: click.Parameter, value: OptionValue | None) -> None:
    assert isinstance(param, FormatOption) and param.name is not None
    if value:
        ctx.meta.setdefault(_key(param.writing), {})[param.name.partition("_")[2]] = value
