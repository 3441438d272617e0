"""The verbs that look: `info`, `validate` and `formats`; and `demo`."""

from dataclasses import dataclass
from functools import partial

import click

from exset import api
from exset import formats as registry
from exset.cli.common import (
    BAD,
    FINE,
    LIMIT,
    access_options,
    each,
    jobs_option,
    lines,
    progress,
    tallied,
    together,
)
from exset.cli.inputs import (
    PATH,
    Reading,
    as_json,
    found,
    json_option,
    reading_options,
    row_of,
    some_files,
    voice_options,
    wants_json,
    write_one,
    write_row,
)
from exset.cli.models import tell
from exset.core.errors import Findings, Severity, safe
from exset.core.jobs import Outcome, run
from exset.core.protocols import Summary
from exset.families.format import Format
from exset.io.access import Access

FORMAT_KEYS = (
    *("name", "title", "family", "kind", "suffixes"),
    *("options", "read_options", "dialects"),
)
"""What `formats` says of each, in its JSON."""


@dataclass(frozen=True)
class Seen:
    """What `info` and `stats` tell of a file."""

    name: str
    format: Format
    bytes: int
    summary: Summary
    findings: Findings


def seen(path: str, reading: Reading, whole: bool = False) -> Seen:
    """Read a file and sum it up, or with `whole` say all that can be said in numbers."""
    read = reading(path)
    family = read.format.family
    summary = (family.describe if whole else family.summarise)(read.model)
    return Seen(read.source.name, read.format, len(read.source.view), summary, read.findings)


def show(outcome: Outcome[str, Seen], as_json: bool, voice: int, first: bool) -> int:
    """Show what was seen of a file; with a voice above 0 what was found in it, too."""
    from exset.core.text import size

    if as_json:
        got = outcome.value
        write_row(
            {
                **row_of(outcome, got is not None),
                "format": got and got.format.name,
                "bytes": got and got.bytes,
                "summary": got and got.summary.to_dict(),
                **found(Findings() if got is None else got.findings),
            }
        )
    got = outcome.result()
    if as_json:
        return FINE
    if not first:
        click.echo()
    click.echo(f"{safe(got.name)}: {got.format.title}, {size(got.bytes)}")
    rows = got.summary.rows()
    if len(got.findings) and voice == 0:
        rows.append(("findings", f"{tallied(got.findings)} (exset validate says which)"))
    for label, text in rows:
        click.echo(f"  {label:<11} {safe(text)}")
    tell(got.findings, 0, voice)
    return FINE


def summed_up(
    ctx: click.Context,
    files: tuple[str, ...],
    as_json: bool,
    reading: Reading,
    jobs: int,
    whole: bool,
) -> None:
    """Show files in numbers."""
    work = partial(seen, reading=reading, whole=whole)
    outcomes = progress(run(work, files, jobs=jobs), len(files), "reading", shown=True)
    firsts = iter((True,))
    ctx.exit(each(outcomes, lambda each: show(each, as_json, reading.voice, next(firsts, False))))


@click.command()
@some_files
@as_json
@reading_options
@jobs_option
@click.pass_context
def info(
    ctx: click.Context, files: tuple[str, ...], as_json: bool, reading: Reading, jobs: int
) -> None:
    """Say in numbers what files hold.

    \b
      exset info train.ex test.bex.gz
      exset info --json '*.sample_list' | jq .summary.samples

    With -v what was found is told, too. With --json each file, read or not, has the keys schema,
    file, ok, error, format, bytes, summary, counts and findings: error says why it could not be
    read, or is null; format, bytes and summary are null then.
    """
    summed_up(ctx, files, as_json, reading, jobs, whole=False)


@click.command()
@some_files
@as_json
@click.option("--files", "check_files", is_flag=True, help="Look at the files named in it, too.")
@click.option("--base", metavar="FOLDER", default="", help="Where relative names count from.")
@access_options
@reading_options
@jobs_option
@click.pass_context
def validate(
    ctx: click.Context,
    files: tuple[str, ...],
    as_json: bool,
    check_files: bool,
    base: str,
    access: Access,
    reading: Reading,
    jobs: int,
) -> None:
    """Tell of everything in files that is wrong or a trap.

    \b
      exset validate train.ex test.ex
      exset validate --files --root /data all.sample_list
      exset validate --json @files.txt > report.jsonl

    With -q nothing is said of files without findings, with -v each kind of finding is explained.
    With --json each file has the keys schema, file, ok, error, counts and findings: error says why
    it could not be opened, or is null; what is wrong with its contents are findings.
    """
    if not check_files:
        together("--files", "base", "roots", "follow_links", "no_locking")
    explained: set[str] = set()

    def tell(outcome: Outcome[str, Findings]) -> int:
        path = outcome.item
        findings = Findings() if outcome.value is None else outcome.value
        worst = findings.worst
        bad = worst is Severity.ERROR or (reading.strict and worst is Severity.WARNING)
        if as_json:
            write_row(
                {
                    **row_of(outcome, outcome.error is None and not bad),
                    **found(findings),
                }
            )
        outcome.result()
        if not as_json:
            for line in lines(findings, findings.keep):
                click.echo(line)
            if reading.voice > 0:
                _explain(findings, explained)
            verdict = "not valid" if bad else "ok"
            name = "<stdin>" if path == "-" else safe(path)
            if reading.voice >= 0 or worst is not None:
                click.echo(f"{name}: " + ", ".join(filter(None, (verdict, tallied(findings)))))
        if findings.count("limit"):
            return LIMIT
        return BAD if bad else FINE

    # Of several lists each has a process; of one, the files that it names.
    inner = jobs if len(files) == 1 else 1
    check = partial(
        _checked, reading=reading, base=base if check_files else None, access=access, jobs=inner
    )
    outcomes = run(check, files, jobs=jobs)
    ctx.exit(each(progress(outcomes, len(files), "checking", shown=True), tell))


def _checked(path: str, reading: Reading, base: str | None, access: Access, jobs: int) -> Findings:
    """Validate a file, and with a base, which may be "", the files that it names."""
    return api.validate(
        path,
        format=reading.format,
        limits=reading.limits,
        engine="auto",
        check_files=base is not None,
        base=base or "",
        access=access,
        jobs=jobs,
        **reading.options,
    )


def _explain(findings: Findings, explained: set[str]) -> None:
    """Explain each kind of finding that was not explained before; those of others are unknown."""
    from exset.explain import codes, explain

    known = set(codes())
    for code in dict.fromkeys(finding.code for finding in findings):
        if code in known - explained:
            explained.add(code)
            for line in explain(code).lines():
                click.echo(line)


@click.command()
@json_option(*FORMAT_KEYS)
def formats() -> None:
    """List the formats, with their suffixes and options.

    \b
      exset formats

    Those of other packages that are installed are among them.
    """
    for known in (*registry.FORMATS, *registry.installed()):
        if wants_json():
            row = {
                "name": known.name,
                "title": known.title,
                "family": known.family.name,
                "kind": "binary" if known.binary else "text",
                "suffixes": known.suffixes,
                "options": known.options,
                "read_options": known.read_options,
                "dialects": known.dialects,
            }
            write_one(row)
        else:
            options = " ".join(f"--{option}" for option in known.options)
            click.echo(
                f"{safe(known.name):<13} {safe(known.title):<31}"
                f" {' '.join(known.suffixes):<12} {options}".rstrip()
            )


@click.command()
@click.argument("folder", default="exset-demo", type=PATH)
@json_option("name", "converted", "units", folder="folder")
@voice_options
def demo(folder: str, voice: int) -> None:
    """Write, check and convert the bundled samples.

    \b
      exset demo
      exset demo somewhere/else

    The folder is ./exset-demo unless another is named; it is made, or must hold nothing but the
    demo's own files.
    """
    from exset.demo import run, steps

    if wants_json():
        for step in steps(folder):
            write_one({"folder": folder, **vars(step)})
        return
    for line in run(folder):
        if voice >= 0:
            click.echo(safe(line))
