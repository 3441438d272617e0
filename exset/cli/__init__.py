"""The command line: data to standard output, talk to standard error.

Exit codes: 0 fine, 1 a bad file or findings of severity error, 2 usage, 3 input or output, 4 a
limit, 130 interrupted, 141 the reader of the output went away.
"""

import click

import exset
from exset import ending
from exset.cli.frame import INTERRUPTED, Verbs

VERBS = {
    "convert": "exset.cli.convert",
    "info": "exset.cli.look",
    "validate": "exset.cli.look",
    "cat": "exset.cli.show",
    "head": "exset.cli.show",
    "stats": "exset.cli.parts",
    "diff": "exset.cli.differ",
    "split": "exset.cli.parts",
    "plot": "exset.cli.plot",
    "list": "exset.cli.lists:lists",
    "manifest": "exset.cli.manifest",
    "schema": "exset.cli.schema",
    "cache": "exset.cli.cache",
    "config": "exset.cli.config",
    "formats": "exset.cli.look",
    "sampler": "exset.cli.sampler",
    "demo": "exset.cli.look",
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
    ending.heed()
    try:
        cli(prog_name="exset")
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0
