"""Arguments that name files: paths, `-`, patterns, lists of paths, and bundled samples."""

import os
from collections.abc import Iterable, Iterator, Sequence

import click

from exset import samples
from exset.cli.options import Decorator
from exset.core.limits import DEFAULT
from exset.core.text import safe
from exset.io import files
from exset.io.access import is_inside
from exset.io.beneath import PathInside
from exset.io.many_paths import Paths
from exset.io.patterns import matches

PATH = click.Path(readable=False)
"""The type of paths; an unreadable file is an error only when it is read, as others may follow."""


def all_paths(
    ctx: click.Context, param: click.Parameter, arguments: tuple[str, ...]
) -> Sequence[str]:
    """Return the paths that arguments name. This is a callback for click."""
    if ctx.resilient_parsing:
        return arguments
    roots = _roots(ctx)
    paths = (tuple if roots else Paths)(expanded(arguments, roots))
    if arguments and not paths:
        raise click.BadParameter("the lists contain no path", ctx, param)
    return paths


def one_path(ctx: click.Context, param: click.Parameter, argument: str) -> str:
    """Return the only path that an argument names. This is a callback for click."""
    if ctx.resilient_parsing:
        return argument
    paths = list(expanded((argument,), _roots(ctx)))
    if len(paths) != 1:
        message = f"{safe(argument)} names {len(paths):,} files: name exactly one"
        raise click.BadParameter(message, ctx, param)
    return paths[0]


def file_argument(name: str, metavar: str) -> Decorator:
    """Add an argument for one file. A pattern or list must name exactly one: see `expanded`."""
    return click.argument(name, metavar=metavar, type=PATH, callback=one_path)


def files_argument(name: str, metavar: str) -> Decorator:
    """Add an argument for one or more files, also patterns and lists: see `expanded`."""
    return click.argument(
        name, metavar=metavar, nargs=-1, required=True, type=PATH, callback=all_paths
    )


one_file = file_argument("file", "FILE")
some_files = files_argument("files", "FILE...")
some_inputs = files_argument("inputs", "INPUT... [OUTPUT]")


def expanded(arguments: Iterable[str], roots: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the paths that arguments name: a path, `@FILE` for the paths in a file, or a pattern.

    `FILE` has one path on each line, without patterns. Patterns have `*`, `?`, `[` or `**`. They
    are expanded here if the shell did not expand them, for example because they were quoted. A
    pattern without a match is yielded unchanged, and cannot be opened. Raises BadParameter if a
    path in `FILE` is outside of `roots`, and OSError for a folder that exset may not read.
    """
    for argument in arguments:
        if argument.startswith("@"):
            for line in _lines(argument.removeprefix("@")):
                path = os.fsdecode(line)
                if roots and ("://" in path or not is_inside(path, roots)):
                    raise click.BadParameter(
                        f"{safe(argument)}: {safe(path)} is outside of {safe(', '.join(roots))}"
                    )
                yield PathInside(path, roots) if roots else path
        elif set("*?[") & set(argument) and "://" not in argument and not os.path.lexists(argument):
            yield from _matches(argument) or [argument]
        else:
            yield argument


def _lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a file that are not blank, without reading the whole file into memory."""
    with files.blocks(path, limits=DEFAULT) as blocks:
        last = b""
        for block in blocks:
            *lines, last = (last + block).splitlines(keepends=True)
            yield from filter(bytes.strip, (line.rstrip(b"\r\n") for line in lines))
        yield from filter(bytes.strip, last.splitlines())


def allowed_folders(roots: tuple[str, ...], untrusted: bool) -> tuple[str, ...]:
    """Return the folders that may be opened. An empty tuple allows all folders.

    `roots`: the folders that the user named. If there are none, `untrusted` allows only the current
    folder.
    """
    return roots or ((os.curdir,) if untrusted else ())


def _roots(ctx: click.Context) -> tuple[str, ...]:
    """Return the folders that must contain the paths in an `@FILE`. Return () if any folder may."""
    return allowed_folders(ctx.params.get("roots", ()), ctx.params.get("untrusted", False))


def _matches(pattern: str) -> list[str]:
    """Return the sorted paths of the files or bundled samples that match a pattern."""
    if pattern.startswith(samples.PREFIX):
        from fnmatch import filter as matching

        bare = pattern.removeprefix(samples.PREFIX)
        return [samples.PREFIX + name for name in matching(samples.names(), bare)]
    return sorted(set(matches(pattern)) - {""})
