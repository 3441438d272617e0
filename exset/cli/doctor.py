"""`exset doctor`: what is installed, which engine is in use, and what the cache holds."""

from typing import TYPE_CHECKING

import click

from exset.cli.inputs import json_option, wants_json, write_one
from exset.core.errors import safe

if TYPE_CHECKING:
    from exset.doctor import Report


EXAMINED = (
    *("versions", "platform", "compiled", "why", "cache", "writable", "bytes", "stale"),
    *("grammars", "layouts", "kernels", "added", "trouble", "ready", "seconds"),
)
"""What is said, in its JSON."""


@click.command()
@click.option("--compile", "compiles", is_flag=True, help="Work out now all that is kept.")
@json_option(*EXAMINED)
def doctor(compiles: bool) -> None:
    """Say what is installed and ready, and what the cache holds.

    \b
      exset doctor
      exset doctor --compile

    Grammars and layouts are turned into tables, and kernels are compiled, when they are first
    needed on a machine; --compile does it now, and says how long that took.
    """
    from exset.doctor import examine, warm_up

    before = examine()
    seconds = None
    if compiles:
        seconds = warm_up()
    report = examine() if compiles else before
    if wants_json():
        write_one({**report.to_dict(), "seconds": seconds})
    else:
        for label, text in _rows(report):
            click.echo(f"{label:<12} {safe(text)}")
        if seconds is not None:
            done = "all was ready; it was loaded and tried" if before.ready else "worked out"
            click.echo(f"{'time':<12} {done} in {seconds:.1f} seconds")


def _rows(report: "Report") -> list[tuple[str, str]]:
    """The report as (label, text)."""
    from exset.core.text import size

    rows = [(name, found or "not installed") for name, found in report.versions.items()]
    rows.append(("platform", report.platform))
    fast = "compiled for long files, plain Python for short ones"
    engine = fast if report.compiled else "plain Python: all works, slower"
    rows.append(("engines", f"text and binary: {engine} ({report.why})"))
    state = "" if report.writable else ", not writable: all is worked out anew each time"
    rows.append(("cache", f"{report.cache}, {size(report.bytes)}{state}"))
    if report.stale:
        rows.append(("", f"{size(report.stale)} of it from other versions, which may be deleted"))
    tables = ("grammars", report.grammars), ("layouts", report.layouts)
    for label, parts in (*tables, ("kernels", report.kernels)):
        for number, part in enumerate(parts):
            ready = f"ready, {size(part.bytes)}" if part.ready else "not yet"
            rows.append(("" if number else label, f"{part.name}: {ready}"))
    if report.added or report.trouble:
        rows.append(("formats", report.trouble or f"of other packages: {', '.join(report.added)}"))
    if report.compiled and report.writable and not report.ready:
        rows.append(
            ("", "what is not ready is worked out when needed, or by exset doctor --compile")
        )
    return rows
