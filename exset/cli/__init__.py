"""The command line: data to standard output, talk to standard error.

Exit codes: 0 fine, 1 a bad file or findings of severity error, 2 usage, 3 input or output, 4 a
limit, 130 interrupted, 141 the reader of the output went away.
"""

import click

import exset
from exset.cli.common import INTERRUPTED, Verbs
from exset.core import signals

VERBS = {
    "convert": "exset.cli.convert",
    "info": "exset.cli.inspect",
    "validate": "exset.cli.inspect",
    "cat": "exset.cli.show",
    "head": "exset.cli.show",
    "stats": "exset.cli.split_stats",
    "diff": "exset.cli.diff",
    "split": "exset.cli.split_stats",
    "plot": "exset.cli.plot",
    "list": "exset.cli.list:lists",
    "manifest": "exset.cli.manifest",
    "schema": "exset.cli.schema",
    "cache": "exset.cli.cache",
    "config": "exset.cli.config",
    "formats": "exset.cli.inspect",
    "sampler": "exset.cli.sampler",
    "demo": "exset.cli.inspect",
    "doctor": "exset.cli.doctor",
    "explain": "exset.cli.explain",
    "completion": "exset.cli.completion",
}
"""The verbs in the order of use, and where each is: the module, and its name if it has another."""


@click.group(
    cls=Verbs,
    homes=VERBS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(exset.__version__, prog_name="exset", message="%(prog)s %(version)s")
def cli() -> None:
    """Read, check and convert the files that say which samples a network learns from.

    A FILE may be `-` for standard input, a pattern such as '*.ex' in quotes, or @LIST for the
    files that a file names, one a line; `exset::xor.ex` names a bundled sample. Nothing that a
    file contains is ever executed.

    Begin with `exset demo`; `exset VERB --help` says more of a verb.
    """


def main() -> int:
    """Run the command line; the console script `exset`."""
    signals.heed()
    try:
        cli(prog_name="exset")
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0
