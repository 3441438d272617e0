"""Load the entry points of other packages, which add formats to exset.

exset loads entry points only if none of its own formats fits: loading takes longer than reading a
small file.
"""

from functools import cache
from importlib import metadata
from typing import TypeVar

from exset.core.errors import FormatError
from exset.core.text import safe
from exset.io.named import with_file_name

T = TypeVar("T")


@cache
def found(group: str, kind: type[T]) -> tuple[T, ...]:
    """Import the entry points of the group `group`, and return the objects that they name.

    Each object must be of the class `kind`. If an entry point cannot be used, raises FormatError,
    which names the entry point and its package.
    """
    return tuple(loaded(point, kind) for point in points(group))


def points(group: str) -> metadata.EntryPoints:
    """List the entry points of a group without importing them. Raises OSError if this fails."""
    with with_file_name("the entry points of installed packages"):
        return metadata.entry_points(group=group)


def import_error(point: str, why: str) -> FormatError:
    """Return the error for an entry point `point` that exset cannot use; `why`: the reason."""
    return FormatError(
        f"{point} cannot be used: {why}", hint="repair the package, or uninstall it", code="plugin"
    )


def loaded(point: metadata.EntryPoint, kind: type[T]) -> T:
    """Import the object that an entry point names.

    Raises FormatError if the import fails, or if the object is not of the class `kind`.
    """
    package = "" if point.dist is None else f" of the package {point.dist.name}"
    title = f"the entry point {point.name!r} ({point.value}){package}"
    try:
        made: object = point.load()
    except Exception as error:  # the module of another package may raise anything
        raise import_error(title, f"{type(error).__name__}: {safe(str(error))}") from error
    if not isinstance(made, kind):
        expected = "class" if kind is type else kind.__name__
        why = f"it must be a {expected}, and its type is {type(made).__name__}"
        raise import_error(title, why)
    return made
