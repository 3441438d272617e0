"""`exset conformance`: test a reader or writer in any language against exset."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING

import click

from exset.cli.commands import Group
from exset.cli.options import Whole, option, secondary_option
from exset.cli.output import Exit, argument_errors, data_errors, require_option, usage_error
from exset.cli.paths import PATH
from exset.cli.report_files import forms_of, report_option, write_report
from exset.cli.reports import json_option, json_rows
from exset.core.errors import FormatError
from exset.core.text import safe

if TYPE_CHECKING:
    from exset.testing.conformance.cases import Case
    from exset.testing.conformance.judge import Judge, Result
    from exset.testing.conformance.readers import Reader

_FORMAT = option("--format", metavar="NAME", help="Use only the cases of this format.")
_ONLY = option(
    "--run",
    "only",
    metavar="GLOB",
    multiple=True,
    help="Use only the cases with names that match GLOB.",
)
_FOLDER = option(
    "--cases",
    "folder",
    metavar="DIR",
    type=PATH,
    help="Use the cases in this folder, written by exset conformance export.",
)


@click.group(cls=Group)
def conformance() -> None:
    """Test whether another reader or writer of these formats agrees with exset."""


@conformance.command("list")
@_FORMAT
@_ONLY
@_FOLDER
@json_option(
    *("name", "format", "verdict", "path", "meaning", "rule", "section", "features", "severity"),
    *("agree", "systems", "options"),
)
def list_cases(format: str | None, only: Sequence[str], folder: str | None) -> None:
    """List the test cases, each with the rule that it tests.

    \b
      exset conformance list --format ex --run '*sharing*'
    """
    from exset.testing.conformance import selected
    from exset.testing.conformance.export import row

    with argument_errors():
        chosen = selected(_cases(format, folder), only)
    rows = json_rows()
    for case in chosen:
        if rows is not None:
            rows.write(row(case))
        else:
            click.echo(f"{case.id}: {case.rule}")


def _cases(format: str | None, folder: str | None) -> "tuple[Case, ...]":
    """Return exset's test cases, or the test cases in `folder` if it is not None."""
    from exset.testing.conformance import cases, cases_in

    return cases(format) if folder is None else cases_in(folder, format)


@conformance.command()
@click.argument("folder", metavar="DIR", type=PATH)
@_FORMAT
def export(folder: str, format: str | None) -> None:
    """Write the test cases to a folder: files, their meanings as JSON, and an index.

    \b
      exset conformance export cases

    The meaning of a file is its data in a form that is the same for every reader.
    """
    from exset.testing.conformance import export as write

    with argument_errors():
        count = write(folder, format)
    click.echo(f"{safe(folder)}: {count} files written")


@conformance.command()
@click.argument("file", metavar="[FILE]", default="-", type=PATH)
@option("--format", metavar="NAME", required=True, help="Read this format.")
@option(
    "--loop",
    is_flag=True,
    help="Read many files from standard input, and answer each: see exset conformance run.",
)
@option(
    "--ids", metavar="KIND", help="Read the ids of a sample list as this type: text or integer."
)
def meaning(file: str, format: str, loop: bool, ids: str | None) -> int:
    """Print the data of a file as JSON, in the form that conformance run expects from a reader.

    \b
      exset conformance meaning --format ex train.ex

    This JSON is called the meaning of the file. The exit code is 1 for an invalid file.
    """
    from exset.io import files
    from exset.testing.conformance import meanings

    options = {"ids": ids} if ids else {}
    with argument_errors():
        meanings.family_of(format)
    if loop:
        _answer(sys.stdin.buffer, sys.stdout.buffer, format, options)
        return Exit.OK
    document = meanings.meaning(files.read(file).data, format, options=options)
    click.echo(meanings.dumped(document), nl=False)
    return Exit.OK


def _answer(stdin: IO[bytes], stdout: IO[bytes], format: str, options: Mapping[str, str]) -> None:
    """Read files from `stdin`; write the meaning of each file to `stdout`, as `--loop` requires.

    options: the options of exset's reader. An option that comes with a file has precedence.
    """
    from exset.testing.conformance import meanings

    while line := stdin.readline():
        length, *words = line.decode("ascii").split()
        own = dict(word.split("=", 1) for word in words)
        data = stdin.read(int(length))
        try:
            document = meanings.meaning(data, format, options={**options, **own})
        except FormatError:
            stdout.write(b"1 0\n")
        else:
            output = meanings.dumped(document)
            stdout.write(b"0 %d\n" % len(output) + output)
        stdout.flush()


@conformance.command()
@click.argument("command", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
@option("--format", metavar="NAME", required=True, help="Use the cases of this format.")
@option(
    "--role",
    type=click.Choice(["decoder", "encoder", "transcoder"]),
    default="decoder",
    help="Test CMD as a reader (decoder, the default), a writer (encoder) or a converter"
    " (transcoder).",
)
@option(
    "--loop", is_flag=True, help="Start CMD once, and send it all cases, each after its length."
)
@option(
    "--without",
    metavar="NAMES",
    default="",
    help="Leave out cases that need a feature of this list, separated by commas: CMD lacks it.",
)
@option(
    "--skip",
    metavar="GLOB",
    multiple=True,
    help="Expect the cases with names that match GLOB to fail.",
)
@_ONLY
@_FOLDER
@option("-x", "stop_early", is_flag=True, help="Stop at the first case that fails.")
@report_option
@option("--generate", metavar="N", type=Whole(1), help="Test N random files instead of the cases.")
@secondary_option(
    "--keep",
    metavar="DIR",
    type=PATH,
    help="With --generate, save the file on which CMD fails to this folder.",
)
@secondary_option(
    "--seed", metavar="N", type=int, default=0, help="Set the seed of --generate (default: 0)."
)
@secondary_option(
    "--to",
    "target",
    metavar="NAME",
    default="bex",
    help="With --role transcoder, expect output in this format (default: bex).",
)
@secondary_option(
    "--timeout",
    metavar="SECONDS",
    type=float,
    default=10.0,
    help="Limit the time of each case (default: 10).",
)
@secondary_option(
    "--parallel", type=Whole(1), default=1, help="Run up to N copies of CMD at once (default: 1)."
)
@option("-v", "--verbose", is_flag=True, help="Also show the cases that pass.")
def run(
    command: tuple[str, ...],
    format: str,
    role: str,
    loop: bool,
    without: str,
    skip: tuple[str, ...],
    only: tuple[str, ...],
    folder: str | None,
    stop_early: bool,
    reports: tuple[str, ...],
    generate: int | None,
    keep: str | None,
    seed: int,
    target: str,
    timeout: float,
    parallel: int,
    verbose: bool,
) -> int:
    """Run a program on the test cases, and compare its answers with exset's.

    \b
      exset conformance run --format ex -- ./my-reader
      exset conformance run --format ex --loop --report tap -- python my.py
      exset conformance run --format bex --without sparse -- ./my-reader {}

    CMD reads a file from standard input. If an argument is {}, CMD gets the path of the file there
    instead. CMD prints the data of the file as JSON, like "exset conformance meaning", and exits
    with 0. For an invalid file, it exits with 1.

    With --loop, CMD reads many files from standard input. Before each file come its length in bytes
    and a line feed. For each file, CMD answers 0 or 1, a space, the length of its output, a line
    feed, and the output.
    """
    from exset.cli import conformance_output as shown
    from exset.testing.conformance import Judge, LoopReader, ProgramReader, runner

    if generate is not None and (only or skip or folder or stop_early or parallel > 1):
        usage_error(
            "--generate tests random files instead of the cases:"
            " it excludes --run, --skip, --cases, -x and --parallel"
        )
    if generate is None:
        require_option("--generate", "keep", "seed")
    if role != "transcoder":
        require_option("--role transcoder", "target")
    with argument_errors():
        all_cases = _cases(format, folder)
        runner.selected(all_cases, skip)
        chosen = runner.selected(all_cases, only)
        shown.check_role(role, format, target)
        names = filter(None, map(str.strip, without.split(",")))
        lacking = runner.features_of(names, all_cases)
        judge = Judge(shown.role_of(role), target, lacking)
        forms = forms_of(reports)

    def make() -> "Reader":
        return (LoopReader if loop else ProgramReader)(command, timeout)

    lines: Iterable[str]
    if generate is not None:
        results, lines = _generated(make(), format, generate, judge, seed, keep)
    else:
        results = []
        running = runner.run(
            make, chosen, judge, skip=skip, parallel=parallel, stop_early=stop_early
        )
        with argument_errors():
            results += running
        lines = shown.lines(results, verbose)
    if "" not in forms.values():
        for line in lines:
            click.echo(line)
    for form, path in forms.items():
        write_report(shown.run_of(format, results), form, path)
    return Exit.BAD_FILE if any(result.failed for result in results) else Exit.OK


def _generated(
    reader: "Reader", format: str, count: int, judge: "Judge", seed: int, keep: str | None
) -> "tuple[list[Result], list[str]]":
    """Test a reader with `count` files that are drawn at random with a seed.

    Return the result of the smallest file that fails, if any, and the lines to print. judge:
    compares an answer with exset's. keep: the folder in which to save this file, if any.
    """
    from exset.cli import conformance_output as shown
    from exset.testing import conformance, need_hypothesis

    with data_errors(ImportError):
        need_hypothesis()
    from exset.testing.conformance.generated import search

    with argument_errors(), reader:
        found = search(reader, format, count, judge, seed)
    if found is None:
        return [], [f"{count} drawn files: no difference"]
    lines = list(shown.found_lines(found.result, found.draws))
    if keep is not None:
        lines.append(f"kept: {safe(conformance.keep(found.result.case, keep))}")
    return [found.result], lines
