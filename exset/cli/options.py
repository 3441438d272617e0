"""Options of commands, in sections of the help."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import click

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A decorator that adds options or arguments to the function of a command."""


class Option(click.Option):
    """An option in a section of the help. The help leaves out the range of a number."""

    section: str = "Options"

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return the texts to show in brackets after the help text."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class SecondaryOption(Option):
    """An option that few people need. It is in the last section of the help."""

    section: str = "More options"


option = partial(click.option, cls=Option)
"""Declare an option; the arguments are those of `click.option`."""

secondary_option = partial(click.option, cls=SecondaryOption)
"""Declare a secondary option; the arguments are those of `click.option`."""


class Whole(click.IntRange):
    """A whole number, shown as N in the help."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the placeholder for the help."""
        return "N"


def options(*added: Decorator) -> Decorator:
    """Return a decorator that adds several options and arguments, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(added):
            command = each(command)
        return command

    return add
