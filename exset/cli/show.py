"""The verbs that show: `cat` a whole file as text, `head` its first units."""

import click

from exset import api, formats, streaming
from exset.cli.common import put, say, tallied, wrong
from exset.cli.inputs import Read, Reading, one_file, reading_options
from exset.cli.models import tell
from exset.core.errors import Severity, blaming, safe
from exset.core.protocols import Option, Selectable
from exset.core.source import Source
from exset.core.text import with_article


@click.command()
@one_file
@click.option("--compact", is_flag=True, help="As few bytes as possible.")
@click.option("--unshare", is_flag=True, help="Copy shared lists where text cannot share them.")
@click.option("--lossy", is_flag=True, help="Leave out what text cannot say.")
@reading_options
def cat(file: str, compact: bool, unshare: bool, lossy: bool, reading: Reading) -> None:
    """Write any file as canonical text to standard output.

    \b
      exset cat train.bex
      exset cat - < train.bex.gz | less
    """
    _put(reading(file), {"compact": compact, "unshare": unshare, "lossy": lossy}, reading.voice)


@click.command()
@one_file
@click.option(
    "-n",
    "--units",
    "count",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    help="How many (10).",
)
@click.option("--compact", is_flag=True, help="As few bytes as possible.")
@click.option("--unshare", is_flag=True, help="Copy shared lists where text cannot share them.")
@click.option("--lossy", is_flag=True, help="Leave out what text cannot say.")
@reading_options
def head(
    file: str,
    count: int,
    compact: bool,
    unshare: bool,
    lossy: bool,
    reading: Reading,
) -> None:
    """Write the first examples or records of a file as text.

    \b
      exset head -n 2 train.bex

    Of a format that is read part by part no more is read than that takes, and of a pipe no more
    than it has given.
    """
    options: dict[str, Option] = {"compact": compact, "unshare": unshare, "lossy": lossy}
    _put(_first(file, count, reading), options, reading.voice)


def _first(path: str, count: int, reading: Reading) -> Read:
    """Read the first units of a file; a usage error for a format that has no first ones."""
    with streaming.opened(path, limits=reading.limits) as blocks:
        known = streaming.recognise(blocks, reading.format)
        if known.streamer is not None:
            from exset.grammars.lens.examples import ExampleSet

            known.chosen(reading.options, reading=True)
            findings, parts, left = reading.findings(), [], count
            stream = known.stream(blocks, limits=reading.limits, findings=findings, engine="auto")
            for part in stream:
                parts.append(part.select(slice(left)))
                left -= len(parts[-1])
                if left <= 0:
                    break
            model = ExampleSet.joined(parts)
            return Read(Source(blocks.name, b""), known, model, findings)
        whole = None
        if path == "-" or blocks.is_pipe:
            whole = Source(blocks.name, b"".join(blocks))
    read = reading.of(whole or api.read_source(path, limits=reading.limits), known)
    if not isinstance(read.model, Selectable):
        noun = with_article(known.family.noun)
        wrong(f"{noun} has no first {known.family.unit}s: exset cat shows it whole")
    return Read(read.source, known, read.model.select(slice(count)), read.findings)


def _put(read: Read, options: dict[str, Option], voice: int) -> None:
    """Write what was read as text, and say what was found."""
    findings, name = read.findings, read.source.name
    with blaming(name):
        text = formats.text_of(read.format)
    data = api.dumps(read.model, format=text.name, name=name, findings=findings, **options)
    put(data, text)
    tell(findings, 0, voice)
    if voice == 0 and findings.worst not in (None, Severity.NOTE):
        say(f"{safe(name)}: {tallied(findings)} (exset validate says which)")
