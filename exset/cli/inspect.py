"""`exset info` and `exset stats`: summarise files in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

import click

from exset import formats
from exset.cli.dividing import PartResult, count_of, joined_findings, read_part
from exset.cli.each_file import for_each_file
from exset.cli.executions import jobs_options
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, LoadedFile, view_options
from exset.cli.options import options
from exset.cli.paths import some_files
from exset.cli.reports import json_option, show_findings, tally_text
from exset.core.parts import FilePart, changed
from exset.core.records import from_json, to_json
from exset.core.text import safe, size

_LABEL: Final = 11
"""The usual width of a label, in characters."""


@dataclass(frozen=True, kw_only=True)
class FileSummary(PartResult):
    """A file's name, format, size in bytes, and summary, as numbers and as rows of text.

    tally: for a part of a file, its counts as JSON; a part has no summary.
    """

    name: str = ""
    format: str = ""
    bytes: int = 0
    numbers: dict[str, object] = field(default_factory=dict)
    rows: list[tuple[str, str]] = field(default_factory=list)
    tally: object = None


inspect_options = options(some_files, json_option(), view_options, jobs_options)
"""Add the files and the options of `info` and `stats`."""


@click.command(cls=FormatCommand)
@inspect_options
def info(files: Sequence[str], common: CommonOptions) -> int:
    """Summarise files: format, counts, groups, sizes.

    \b
      exset info train.ex test.bex.gz
      exset info --json '*.sample_list' | jq .summary.samples

    With -v, exset shows the findings, too. Large Lens files and manifests are read in chunks, which
    takes little memory.
    """
    return _inspect(files, common, full=False)


@click.command(cls=FormatCommand)
@inspect_options
def stats(files: Sequence[str], common: CommonOptions) -> int:
    """Summarise files in full: all counts and distributions.

    \b
      exset stats train.ex

    This includes the output of "exset info", and may take longer.
    """
    return _inspect(files, common, full=True)


def _inspect(files: Sequence[str], common: CommonOptions, full: bool) -> int:
    separators = iter(("",))

    def show(path: str, found: FileSummary) -> None:
        click.echo(next(separators, "\n"), nl=False)
        _show(found, common.verbosity)

    work = Summariser(common, full)
    return for_each_file(
        work,
        files,
        row=_row,
        show=show,
        jobs=common.jobs,
        action="reading",
        returns=FileSummary,
        divider=work,
    )


@dataclass(frozen=True)
class Summariser:
    """Summarises a file or a part of a file. `full`: include all numbers, as `exset stats` does."""

    common: CommonOptions
    full: bool

    def __call__(self, item: str | FilePart) -> FileSummary:
        """Summarise a file or a part of a file. Raises FormatError and OSError as `load` does."""
        if isinstance(item, FilePart):
            return self._part(item)
        findings = self.common.new_findings()
        with self.common.opened(item) as file:
            family = file.format.family
            how = self.common.reading_of(file.format)
            if self.common.is_table(file.format):
                model = file.model(findings, **how)
                loaded = self.common.shown(LoadedFile(file.name, file.format, model, findings))
                family, models = loaded.format.family, iter([loaded.model])
            else:
                models = file.models(findings, **how)
            summary = family.summarise(models, detailed=self.full)
            return FileSummary(
                name=file.name,
                format=file.format.name,
                numbers=summary.to_dict(),
                rows=summary.rows(),
                bytes=file.size,
                findings=findings,
            )

    def counts(self, paths: Sequence[str]) -> list[int]:
        """Return into how many parts each file is divided."""
        if self.common.options or self.common.view:
            return [1] * len(paths)
        can_divide = attrgetter("family.tally")
        return [count_of(path, self.common, can_divide) for path in paths]

    def part_of(self, path: str, rank: int, count: int) -> FilePart:
        """Return part `rank` of a file that is divided into `count` parts."""
        return FilePart(path, rank, count)

    def joined(self, path: str, parts: Sequence[FileSummary]) -> FileSummary:
        """Return the summary of a file, from the counts of its parts.

        If the counts cannot be joined, read the file as a whole.
        """
        findings = joined_findings(parts, self.common)
        fmt = formats.get(parts[0].source_format)
        if findings is None or fmt.family.tally is None:
            return self(path)
        first, *others = (from_json(fmt.family.tally, part.tally) for part in parts)
        for tally in others:
            first.merge(tally)
        summary = first.report()
        return FileSummary(
            name=path,
            format=fmt.name,
            numbers=summary.to_dict(),
            rows=summary.rows(),
            bytes=parts[0].bytes,
            findings=findings,
        )

    def _part(self, part: FilePart) -> FileSummary:
        findings = self.common.new_findings()
        with read_part(part, self.common, findings) as models:
            family = models.format.family
            if family.tally is None:
                raise changed(part.path)
            tally = family.tally(self.full)
            for model in models:
                tally.add(model)
            return FileSummary(
                findings=findings,
                state=models.state,
                source_format=models.format.name,
                bytes=models.size,
                tally=to_json(tally),
            )


def _row(path: str, found: FileSummary | None) -> dict[str, object]:
    return {
        "format": found and found.format,
        "bytes": found and found.bytes,
        "summary": found and found.numbers,
    }


def _show(found: FileSummary, verbosity: int) -> None:
    click.echo(f"{safe(found.name)}: {formats.get(found.format).title}, {size(found.bytes)}")
    rows = [*found.rows]
    if len(found.findings) and verbosity == 0:
        rows.append(("findings", f"{tally_text(found.findings)} (see exset validate)"))
    width = max(_LABEL, *(len(label) for label, _ in rows))
    for label, text in rows:
        click.echo(f"  {label:<{width}} {safe(text)}")
    show_findings(found.findings, verbosity, shown=0)
