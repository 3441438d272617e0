"""The verbs that look: `info`, `validate`, `cat`, `formats`; and `demo`."""

from dataclasses import dataclass
from functools import partial

import click

from exset import api
from exset import formats as registry
from exset.access import Access
from exset.cli.frame import (
    BAD,
    FINE,
    LIMIT,
    access_options,
    as_finding,
    counted,
    each,
    from_option,
    jobs_option,
    limit_option,
    lines,
    put,
    read_options,
    say,
    tally,
    wrong,
)
from exset.errors import Findings, Severity, safe
from exset.format import Format
from exset.jobs import Outcome, Value, run
from exset.limits import Limits
from exset.protocols import Option, Selectable, Summary

SCHEMA = 1
"""The version of what `--json` writes; it changes when a key goes or means something else."""

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
files = click.argument("files", metavar="FILE...", nargs=-1, required=True)


@dataclass(frozen=True)
class _Seen:
    """What `info` tells of a file."""

    name: str
    format: Format
    bytes: int
    summary: Summary
    findings: Findings


def _see(path: str, format: str | None, limits: Limits, reading: dict[str, Option]) -> _Seen:
    source = api.read_source(path, limits=limits)
    known = api.recognise(source, format)
    findings = Findings()
    model = known.read(source, limits=limits, findings=findings, engine="auto", **reading)
    summary = known.family.summarise(model)
    return _Seen(source.name, known, len(source.view), summary, findings)


@click.command()
@files
@as_json
@from_option
@read_options
@limit_option
@jobs_option
@click.pass_context
def info(
    ctx: click.Context,
    files: tuple[str, ...],
    as_json: bool,
    from_format: str | None,
    reading: dict[str, Option],
    limits: Limits,
    jobs: int,
) -> None:
    """Say in numbers what files hold.

    With --json each file, read or not, has the keys schema, file, ok, error, format, bytes and
    summary: error says why it could not be read, or is null; the last three are null then.
    """

    def show(outcome: Outcome[str, _Seen]) -> int:
        from exset.runtime.summary import size

        if as_json:
            found = outcome.value
            _write(
                {
                    **_head(outcome, found is not None),
                    "format": found and found.format.name,
                    "bytes": found and found.bytes,
                    "summary": found and found.summary.to_dict(),
                }
            )
        seen = outcome.result()
        if as_json:
            return FINE
        if outcome.item != files[0]:
            click.echo()
        click.echo(f"{safe(seen.name)}: {seen.format.title}, {size(seen.bytes)}")
        rows = seen.summary.rows()
        if len(seen.findings):
            rows.append(("findings", f"{counted(seen.findings)} (exset validate says which)"))
        for label, text in rows:
            click.echo(f"  {label:<11} {safe(text)}")
        return FINE

    see = partial(_see, format=from_format, limits=limits, reading=reading)
    ctx.exit(each(run(see, files, jobs=jobs), show))


@click.command()
@files
@as_json
@click.option("--strict", is_flag=True, help="A warning is as bad as an error.")
@click.option("--files", "check_files", is_flag=True, help="Look at the files named in it, too.")
@click.option("--base", metavar="FOLDER", default="", help="Where relative names count from.")
@access_options
@from_option
@read_options
@limit_option
@jobs_option
@click.pass_context
def validate(
    ctx: click.Context,
    files: tuple[str, ...],
    as_json: bool,
    strict: bool,
    check_files: bool,
    base: str,
    access: Access,
    from_format: str | None,
    reading: dict[str, Option],
    limits: Limits,
    jobs: int,
) -> None:
    """Tell of everything in files that is wrong or a trap.

    With --json each file has the keys schema, file, ok, error, counts and findings: error says why
    it could not be opened, or is null; what is wrong with its contents are findings.
    """

    def tell(outcome: Outcome[str, Findings]) -> int:
        path = outcome.item
        findings = Findings() if outcome.value is None else outcome.value
        bad = findings.worst is Severity.ERROR or (strict and findings.worst is Severity.WARNING)
        if as_json:
            _write(
                {
                    **_head(outcome, outcome.error is None and not bad),
                    "counts": tally(findings),
                    "findings": [finding.to_dict() for finding in findings],
                }
            )
        outcome.result()
        if not as_json:
            for line in lines(findings, findings.keep):
                click.echo(line)
            verdict = "not valid" if bad else "ok"
            name = "<stdin>" if path == "-" else safe(path)
            click.echo(f"{name}: " + ", ".join(filter(None, (verdict, counted(findings)))))
        if findings.count("limit"):
            return LIMIT
        return BAD if bad else FINE

    # Of several lists each has a process; of one, the files that it names.
    inner = jobs if len(files) == 1 else 1
    check = partial(
        _checked,
        format=from_format,
        limits=limits,
        base=base if check_files else None,
        access=access,
        jobs=inner,
        reading=reading,
    )
    ctx.exit(each(run(check, files, jobs=jobs), tell))


def _checked(
    path: str,
    format: str | None,
    limits: Limits,
    base: str | None,
    access: Access,
    jobs: int,
    reading: dict[str, Option],
) -> Findings:
    """Validate a file, and with a base, which may be "", the files that it names."""
    return api.validate(
        path,
        format=format,
        limits=limits,
        engine="auto",
        check_files=base is not None,
        base=base or "",
        access=access,
        jobs=jobs,
        **reading,
    )


@click.command()
@click.argument("file")
@click.option(
    "--head",
    metavar="N",
    type=click.IntRange(min=0),
    help="Only the first N examples, or other units of the file.",
)
@click.option("--compact", is_flag=True, help="As few bytes as possible.")
@click.option("--unshare", is_flag=True, help="Copy shared lists where text cannot share them.")
@click.option("--lossy", is_flag=True, help="Leave out what text cannot say.")
@from_option
@read_options
@limit_option
def cat(
    file: str,
    head: int | None,
    compact: bool,
    unshare: bool,
    lossy: bool,
    from_format: str | None,
    reading: dict[str, Option],
    limits: Limits,
) -> None:
    """Write any file as canonical text to standard output."""
    source = api.read_source(file, limits=limits)
    known = api.recognise(source, from_format)
    findings = Findings()
    model = known.read(source, limits=limits, findings=findings, engine="auto", **reading)
    if head is not None:
        if not isinstance(model, Selectable):
            wrong(f"--head has no meaning for {known.name}: it is shown whole")
        model = model.select(slice(head))
    text = registry.text_of(known)
    options = {"compact": compact, "unshare": unshare, "lossy": lossy}
    data = api.dumps(model, format=text.name, name=source.name, findings=findings, **options)
    put(data, text)
    if findings.worst not in (None, Severity.NOTE):
        say(f"{safe(source.name)}: {counted(findings)} (exset validate says which)")


@click.command()
@as_json
def formats(as_json: bool) -> None:
    """List the formats, those of other packages too, with their suffixes and options."""
    for known in (*registry.FORMATS, *registry.installed()):
        if as_json:
            kind = "binary" if known.binary else "text"
            row = {
                "name": known.name,
                "title": known.title,
                "family": known.family.name,
                "kind": kind,
            }
            _write({"schema": SCHEMA, **row, "suffixes": known.suffixes, "options": known.options})
        else:
            options = " ".join(f"--{option}" for option in known.options)
            click.echo(
                f"{known.name:<11} {known.title:<28} {' '.join(known.suffixes):<12} {options}"
            )


@click.command()
@click.argument("folder", default="exset-demo")
def demo(folder: str) -> None:
    """Write the bundled samples into a folder, check and convert each.

    The folder is ./exset-demo unless another is named; it is made, or must hold nothing but the
    demo's own files.
    """
    from exset.demo import run

    for line in run(folder):
        click.echo(safe(line))


def _head(outcome: Outcome[str, Value], ok: bool) -> dict[str, object]:
    """Return what the JSON of every file begins with."""
    error = None if outcome.error is None else as_finding(outcome.error).to_dict()
    return {"schema": SCHEMA, "file": outcome.item, "ok": ok, "error": error}


def _write(row: dict[str, object]) -> None:
    """Write one JSON object as a line of ASCII, so that nothing in it can reach a terminal."""
    import json

    click.echo(json.dumps(row, allow_nan=False))
