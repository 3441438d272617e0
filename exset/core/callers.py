"""Shorten tracebacks: an error of a public function shows only the line that called it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from exset.core.errors import FormatError

P = ParamSpec("P")
R = TypeVar("R")


class OptionError(TypeError, ValueError):
    """An unknown option, or a value that an option does not allow."""


@contextmanager
def option_errors() -> Iterator[None]:
    """Within this context, raise a ValueError as an OptionError; leave a FormatError as it is."""
    try:
        yield
    except FormatError:
        raise
    except ValueError as error:
        raise OptionError(str(error)) from error


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function: its errors show the line that calls it, not the lines inside.

    This is for errors of files, of the system and of options, because their messages say what is
    wrong. Other errors keep their traceback. All errors keep their cause.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True  # IPython and pytest show only the line that calls it
        try:
            return function(*args, **kwargs)
        except (FormatError, OSError, OptionError) as error:
            raise trimmed(error) from error.__cause__

    return called


def trimmed(error: Exception) -> Exception:
    """Return the error after removing its traceback so far."""
    return error.with_traceback(None)
