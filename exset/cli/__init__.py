"""The command line: data to standard output, messages to standard error.

Exit codes: 0 success, 1 an invalid file, 2 wrong usage, 3 an error of the system, 4 a limit,
130 interrupted, 141 nobody reads the output.
"""

import click

import exset
from exset.cli.main_group import MainGroup
from exset.cli.output import Exit
from exset.core import signals

SECTIONS = {
    "Look at files": {
        "info": "exset.cli.inspect",
        "stats": "exset.cli.inspect",
        "cat": "exset.cli.show",
        "head": "exset.cli.show",
        "plot": "exset.cli.plot",
    },
    "Check files": {
        "validate": "exset.cli.validate",
        "diff": "exset.cli.diff",
        "explain": "exset.cli.explain",
    },
    "Convert files": {"convert": "exset.cli.convert", "split": "exset.cli.split"},
    "Families of formats": {
        "list": "exset.cli.list:lists",
        "schema": "exset.cli.schema",
        "manifest": "exset.cli.manifest",
        "config": "exset.cli.config",
        "cache": "exset.cli.cache",
        "sampler": "exset.cli.sampler",
    },
    "exset itself": {
        "demo": "exset.cli.itself",
        "formats": "exset.cli.itself",
        "doctor": "exset.cli.itself",
        "completion": "exset.cli.itself",
    },
}
"""The sections of the help, and the module of each command: see `MainGroup`."""


@click.group(
    cls=MainGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(
    exset.__version__, prog_name="exset", message="%(prog)s %(version)s", help="Show the version."
)
def cli() -> None:
    """Inspect, check and convert the training-data files of Lens, LBANN, aeon and BA-LR.

    A FILE may be compressed, - for standard input, a quoted pattern such as '*.ex', @LIST for a
    file of paths, a URL, or a bundled sample such as exset::xor.ex. exset never executes anything
    that a file contains.

    Start with "exset demo". "exset COMMAND --help" explains a command.
    """


def main() -> int:
    """Run the command line; the console script `exset`."""
    signals.install_handlers()
    try:
        cli(prog_name="exset")
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return 0
