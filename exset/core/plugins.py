"""What other packages add, found by their entry points.

They are looked for only where what exset has does not do: that takes longer than a small file.
"""

from functools import cache
from importlib import metadata
from typing import TypeVar

from exset.core.errors import FormatError, safe

T = TypeVar("T")


@cache
def found(group: str, kind: type[T]) -> tuple[T, ...]:
    """Import what packages declare as the entry points of a group; each must be of a kind.

    FormatError that names the entry point and its package, for one that cannot be imported.
    """
    return tuple(loaded(point, kind) for point in metadata.entry_points(group=group))


def trouble(point: str, why: str) -> FormatError:
    """Return the error for what a package adds and exset cannot use."""
    return FormatError(
        f"{point} cannot be used: {why}",
        hint="mend the package, or uninstall it",
        code="plugin",
    )


def loaded(point: metadata.EntryPoint, kind: type[T]) -> T:
    """Import what an entry point names, which must be of a kind; FormatError as `found`."""
    package = "" if point.dist is None else f" of the package {point.dist.name}"
    title = f"the entry point {point.name!r} ({point.value}){package}"
    try:
        made: object = point.load()
    except Exception as error:  # whatever a stranger's module does when it is imported
        raise trouble(title, f"{type(error).__name__}: {safe(str(error))}") from error
    if not isinstance(made, kind):
        wanted = "class" if kind is type else kind.__name__
        raise trouble(title, f"it is no {wanted}, but of the type {type(made).__name__}")
    return made
