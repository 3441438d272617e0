"""The command line: data to standard output, messages to standard error.

Exit codes: 0 success, 1 an invalid file, 2 wrong usage, 3 an error of the system, 4 an exceeded
limit, 130 an interrupt, 141 a closed output.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

import exset
from exset.cli.main_group import MainGroup
from exset.cli.output import Exit
from exset.core import signals
from exset.core.errors import FormatError

if TYPE_CHECKING:
    from exset.core.jobs import Execution

SECTIONS = {
    "Look at files": {
        "inspect": "info stats",
        "show": "cat head",
        "plot": "plot",
        "report": "report",
    },
    "Check files": {
        "validate": "validate",
        "diff": "diff",
        "explain": "explain",
        "conformance": "conformance",
    },
    "Convert and edit files": {
        "convert": "convert",
        "edit:edit_files": "edit",
        "fmt": "fmt",
        "split": "split",
        "gather": "gather",
    },
    "Families of formats": {
        "list:lists": "list",
        "schema": "schema",
        "manifest": "manifest",
        "config": "config",
        "provision": "provision",
        "cache": "cache",
        "sampler": "sampler",
    },
    "exset itself": {
        "itself": "demo formats doctor completion",
        "help:show_help": "help",
        "manual": "man",
    },
}
"""The sections of the help, and the commands of each module: see `MainGroup`."""


@click.group(cls=MainGroup, sections=SECTIONS)
@click.version_option(
    exset.__version__, prog_name="exset", message="%(prog)s %(version)s", help="Show the version."
)
def cli() -> None:
    """Inspect, check and convert the training-data files of Lens, LBANN, aeon and BA-LR.

    A FILE may be compressed. It may also be - for standard input, a quoted pattern such as '*.ex',
    @LIST for a file of paths, a URL, or a bundled sample such as exset::xor.ex. exset never
    executes anything that a file contains.

    Start with "exset demo". "exset COMMAND --help" explains a command.
    """


def main(workers: "Execution | None" = None) -> int:
    """Run the command line, as the console script `exset` does.

    workers: runs work on many files, by default in the processes of `--jobs`.
    """
    signals.install_handlers()
    try:
        cli(prog_name="exset", obj=workers)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return 0


def fail(error: OSError) -> int:
    """End as `main` does if the command fails because the process of its work died.

    error: an error of `exset.core.supervisor`.
    """
    from exset.runtime.lbann.hdf5_files import failure

    reason: Exception = error
    if error.filename is not None and isinstance(error, ChildProcessError | TimeoutError):
        finding = failure(error.filename, error)
        if isinstance(error, TimeoutError):
            hint = "remove the file; or set EXSET_ISOLATE=off, which sets no time limit"
            finding = replace(finding, hint=hint)
        reason = FormatError.of(finding)
    cli(prog_name="exset", obj=reason, resilient_parsing=True)
    return 0
