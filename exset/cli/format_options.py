"""Make command-line options from the options that formats declare in their records."""

from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

import click

from exset import formats
from exset.cli.commands import Command
from exset.cli.options import Decorator, SecondaryOption, options
from exset.cli.options import Option as CommandOption
from exset.core.protocols import OptionValue
from exset.families.format import Format
from exset.families.option import Option

_META = "exset.cli.format_options."
LEVEL: Final = "level"
"""The name of the level in `values("view")`."""


Step: TypeAlias = Literal["read", "check", "write", "table", "view"]
"""What options are for: reading, checking, writing, converting by a table, showing a table."""

_SECTIONS: Final[dict[Step, str]] = {
    "read": SecondaryOption.section,
    "check": "Options of formats",
    "write": "Options of formats",
    "table": "Options of tables",
    "view": "Options of tables",
}


class FormatOption(CommandOption):
    """The command-line option for an option of one or more formats; `values` returns its value."""

    def __init__(self, _: object, *, same_name: list[Option], step: Step) -> None:
        """Make one command-line option for `same_name`: all options of one name in the formats.

        The option's value is stored in the `meta` of click's context.
        """
        self.step = step
        self.section = _SECTIONS[step]
        first = same_name[0]
        choices = list(dict.fromkeys(choice for each in same_name for choice in each.choices))
        super().__init__(
            [switch(first.name, step), f"{step}_{first.name}"],
            is_flag=first.is_flag,
            metavar=first.metavar or None,
            type=_Choice(first.name, choices) if choices else None,
            help=_help(same_name),
            expose_value=False,
            callback=_keep,
        )


class ViewOption(CommandOption):
    """An option that no format declares, for showing a file as a table."""

    section = _SECTIONS["view"]


class FormatCommand(Command):
    """A command for files of any format; its options include those of other packages' formats.

    Other packages are loaded for `--help`, for completion, and for an option that exset does not
    know.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. If an option is unknown, load other packages and parse again."""
        copy = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            if not self._load_plugins():
                raise
            return super().parse_args(ctx, copy)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of other packages, too."""
        self._load_plugins()
        super().format_options(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete the options of other packages, too."""
        self._load_plugins()
        return super().shell_complete(ctx, incomplete)

    def _load_plugins(self) -> bool:
        """Add the options of other packages' formats; return whether any were added."""
        taken = {name for param in self.params for name in param.opts}
        steps = {param.step for param in self.params if isinstance(param, FormatOption)}
        added = [
            each
            for step in sorted({"read", *steps})
            for same_name in _by_name(formats.load_plugins(), step)
            for each in [FormatOption((), same_name=same_name, step=step)]
            if taken.isdisjoint(each.opts)
        ]
        self.params += added
        return bool(added)


def switch(name: str, step: Step) -> str:
    """Return the command-line name of an option that formats declare.

    A reader's option is called `--from-NAME` if writers have an option of the same name.
    """
    both = any(fmt.option(name) for fmt in formats.all_formats())
    prefix = "from-" if step == "read" and both else ""
    return f"--{prefix}{name.replace('_', '-')}"


def values(step: Step) -> dict[str, OptionValue]:
    """Return the values that the user set for options of formats, by name."""
    prefix = f"{_META}{step}_"
    meta = click.get_current_context().meta
    return {key.removeprefix(prefix): meta[key] for key in meta if key.startswith(prefix)}


def _by_name(among: Iterable[Format], step: Step) -> list[list[Option]]:
    """Return the options of formats, grouped by name; a group becomes one command-line option.

    For the step "table", leave out options that a reader or a writer also has. For "view", leave
    out options that a reader also has.
    """
    formats = tuple(among)
    readers = [each for fmt in formats for each in fmt.read_options]
    writers = [each for fmt in formats for each in fmt.options]
    families = dict.fromkeys(fmt.family for fmt in formats)
    taken = {each.name for each in (*readers, *writers)}
    tables = [
        each
        for family in families
        for each in (*family.table_options, *family.model_options)
        if each.name not in taken
    ]
    same_name: dict[str, list[Option]] = {}
    checks = [each for family in families for each in family.check_options]
    reading = {each.name for each in readers}
    views = [
        each for family in families for each in family.table_options if each.name not in reading
    ]
    by_step = {
        "read": readers,
        "check": checks,
        "write": writers,
        "table": tables,
        "view": views,
    }
    for option in by_step[step]:
        same_name.setdefault(option.name, []).append(option)
    return list(same_name.values())


def _decorator(step: Step, among: Iterable[Format] = formats.FORMATS) -> Decorator:
    found = _by_name(among, step)
    return options(*(click.option(cls=FormatOption, same_name=each, step=step) for each in found))


def _keep(ctx: click.Context, param: click.Parameter, value: OptionValue | None) -> None:
    if value:
        ctx.meta[f"{_META}{param.name}"] = value


def read_options_of(name: str) -> Decorator:
    """Add the options of all readers in the family of the format `name`."""
    return _decorator("read", formats.of_family(formats.get(name).family))


read_options = _decorator("read")
"""Add the options of all readers; `values("read")` returns those that the user set."""

check_options = _decorator("check")
"""Add the options of all checks; `values("check")` returns those that the user set."""

write_options = _decorator("write")
"""Add the options of all writers; `values("write")` returns those that the user set."""

table_options = _decorator("table")
"""Add the options of all tables; `values("table")` returns those that the user set."""

view_options = options(
    _decorator("view"),
    click.option(
        "--level",
        f"view_{LEVEL}",
        cls=ViewOption,
        type=click.Choice(["said", "meant"]),
        help="said: show only the values that the file writes; meant: also fill in all defaults."
        " Both show the table that convert makes of the file.",
        expose_value=False,
        callback=_keep,
    ),
)
"""Add the options of tables to be shown; `values("view")` returns those that the user set."""


def _help(options: list[Option]) -> str:
    text = " ".join(dict.fromkeys(option.help for option in options))
    defaults = dict.fromkeys(option.default for option in options if option.default)
    return f"{text.removesuffix('.')} (default: {', '.join(defaults)})." if defaults else text


class _Choice(click.Choice[str]):
    """The choices of an option, from exset's formats and from formats that other packages add."""

    def __init__(self, option: str, choices: list[str]) -> None:
        super().__init__(choices, case_sensitive=False)
        self._option = option

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the choice that equals `value`, spelled as in the record."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            for fmt in formats.load_plugins():
                for option in (*fmt.options, *fmt.read_options):
                    if option.name == self._option and value in option.choices:
                        return value
            raise
