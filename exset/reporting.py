"""Collect what a report shows of a file: findings, statistics, the first units, and pictures.

exset reads only the beginning of a large file; the report says how much.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from exset import formats, streaming
from exset.core.errors import Findings, FormatError, Severity
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, OptionValue
from exset.core.text import counted, for_command_line, safe, size
from exset.explain import codes, explain
from exset.families.family import Family, load
from exset.io.access import DEFAULT_ACCESS, Access
from exset.plotting import BATCHES, BatchOptions, of_batches
from exset.reports.page import PageFile, PageFinding, PagePicture, PageTable
from exset.reports.svg import inline
from exset.streaming import OpenFile, OpenFolder

if TYPE_CHECKING:
    from exset.runtime.pictures.kinds import Picture
    from exset.runtime.pictures.options import PictureOptions
    from exset.runtime.reports.differences import Differences

SAMPLE: Final = 1 << 24
"""About how many bytes of a large file are read."""

_UNITS: Final = {"pca": 300, "classes": None, "files": None, "images": None}
"""How many units each picture shows at most; pictures that are not listed show `_FEW`."""
_FEW: Final = 40
_PICTURED: Final = 1 << 16
"""How many units are kept for pictures at most."""
_SHOWN: Final = 20
_CELL: Final = 60


@dataclass
class ReportOptions:
    """How to report files. `whole`: read all of a large file. `batches`: batches to draw.

    `column`: the column of the labels for `batches`. The other fields are as for `validate`.
    """

    whole: bool = False
    base: str = ""
    access: Access = DEFAULT_ACCESS
    format: str | None = None
    limits: Limits = DEFAULT
    reading: dict[str, OptionValue] = field(default_factory=dict)
    batches: BatchOptions | None = None
    column: str | None = None


def report_of(path: str, options: ReportOptions, number: int = 0) -> tuple[PageFile, Findings]:
    """Return the report of a file, and its findings. `number`: the number of the file on the page.

    A FormatError becomes a finding. Raises OSError if the file cannot be read, and ImportError
    without matplotlib.
    """
    findings, page = Findings(), PageFile(safe(path), "")
    sampled: _Sampled | None = None
    try:
        with streaming.opened(
            path, format=options.format, limits=options.limits, roots=options.access.roots
        ) as file:
            sampled = _Sampled(file, findings, options)
            family = file.format.family
            page.name = safe(file.name)
            summary = family.summarise(sampled.models(), detailed=True)
            page.about = f"{file.format.title}, {size(_size(file))}"
            page.sampled = sampled.note
            rows = [(safe(label), safe(text)) for label, text in summary.rows()]
            page.tables.append(PageTable("Statistics", (), rows))
    except FormatError as error:
        findings.add_all(error.findings)
        page.about = page.about or "exset cannot read this file as a whole"
    if sampled is not None and sampled.first is not None:
        model = sampled.first
        page.tables += _first_units(model)
        page.pictures += list(_pictures(model, path, options, number))
    findings.sort()
    page.findings = [
        PageFinding.of(each.for_command_line(), _means(each.code)) for each in findings
    ]
    page.verdict = verdict(findings)
    return page, findings


def verdict(findings: Findings) -> str:
    """Return a text that says how many findings of each severity there are."""
    kept = [counted(n, each) for each in Severity if (n := _count(findings, each))]
    return ", ".join(kept) or "none"


def _count(findings: Findings, severity: Severity) -> int:
    found = {each.code for each in findings if each.severity is severity}
    return sum(findings.count(code) for code in found)


class _Sampled:
    """Reads the models of a file, or only of its beginning; keeps the first models for pictures."""

    def __init__(
        self, file: OpenFile | OpenFolder, findings: Findings, options: ReportOptions
    ) -> None:
        self._file, self._findings, self._options = file, findings, options
        self._kept: list[Model] = []
        self.note = ""

    def models(self) -> Iterator[Model]:
        """Yield the models, and check each of them."""
        family, count = self._file.format.family, 0
        check = family.model_check()
        for model in self._chunks(family):
            if check is not None:
                check(model, self._findings, first=count)
            if count < _PICTURED:
                self._kept.append(model)
            count += len(model)
            yield model

    @property
    def first(self) -> Model | None:
        """A model of the first units of the file. None if nothing could be read."""
        if not self._kept:
            return None
        family = self._file.format.family
        return family.joined(self._kept)

    def _chunks(self, family: Family) -> Iterator[Model]:
        file, options = self._file, self._options
        reading: dict[str, Any] = options.reading
        if family.folder is not None and isinstance(file, OpenFolder) and not options.whole:
            yield self._first_blocks(family, file)
        elif file.format.streamer is None or file.is_small() or options.whole:
            yield from file.models(self._findings, **reading)
        else:
            read = 0
            for model in file.stream(self._findings, **reading):
                yield model
                read = file.blocks.count if isinstance(file, OpenFile) else read + len(model)
                if read >= SAMPLE:
                    self.note = _note(f"about the first {size(read)}", _size(file))
                    return

    def _first_blocks(self, family: Family, file: OpenFolder) -> Model:
        """Return the first blocks of a cache as one model."""
        opener = cast("Any", load(cast(str, family.folder)))
        folder = opener(file.name, self._options.limits, self._options.access.roots)
        blocks, read = [], 0
        for block in folder:
            blocks.append(block)
            read += block.elements.data.nbytes
            if read >= SAMPLE and len(blocks) < len(folder):
                records = counted(sum(map(len, blocks)), family.unit)
                of = f"the first {len(blocks)} of {len(folder):,} blocks, with {records}"
                self.note = _note(of, file.size)
                break
        if not blocks:
            return file.model(self._findings)
        first, *others = blocks
        return cast(Model, first.concat(*others) if others else first)


def _note(read: str, total: int) -> str:
    return (
        f"exset read {read} of {size(total)}. Findings, statistics and pictures are of this part."
        " The option --whole reads everything."
    )


def _size(file: OpenFile | OpenFolder) -> int:
    if isinstance(file, OpenFile) and file.blocks.size is not None:
        return file.blocks.size
    return file.size


def _means(code: str) -> str:
    return explain(code).means if code in codes() else ""


def _first_units(model: Model) -> Iterator[PageTable]:
    """Yield a table of the first units; long texts are cut."""
    family = formats.family_of(model)
    heads: list[str] = []
    rows = []
    for number in range(min(len(model), _SHOWN)):
        try:
            cells = family.cells_of(model, number)[:_SHOWN]
        except (FormatError, TypeError, ValueError):
            return
        heads = heads or [safe(name) for name, _ in cells]
        rows.append((str(number), *(_cell(value) for _, value in cells)))
    if rows:
        shown = ("", *heads) if any(heads) else ()
        yield PageTable(f"The first {family.counted(len(rows))}", shown, rows)


def _cell(value: object) -> str:
    if isinstance(value, bytes | memoryview):
        head = bytes(value[:_CELL])
        if any(byte < 32 and byte not in b"\t\n\r" for byte in head):
            return f"({size(len(value))})"
        value = head.decode("utf-8", "surrogateescape") + "…" * (len(value) > _CELL)
    text = str(value)
    return safe(text if len(text) <= _CELL else text[: _CELL - 1] + "…")


def _pictures(
    model: Model, path: str, options: ReportOptions, number: int
) -> Iterator[PagePicture]:
    """Yield the pictures of a model for a report.

    If the options have `batches`, also yield the picture of batches. number: the number of the file
    on the page.
    """
    from exset.runtime.pictures.options import PictureOptions

    family = formats.family_of(model)
    how = PictureOptions(name=path, base=options.base, access=options.access, limits=options.limits)
    for name, _ in family.pictures:
        if name != "grid":
            yield _drawn(name, partial(_picture, family, model, name, how), number)
    if options.batches is not None:
        how = replace(how, column=options.column)
        yield _drawn(BATCHES, partial(of_batches, path, how, options.batches), number)


def _drawn(name: str, make: "Callable[[], Picture]", number: int) -> PagePicture:
    """Return a picture as SVG. If it cannot be drawn, return the reason instead.

    make: a function that makes the picture. number: the number of the picture on the page.
    """
    from exset.runtime.pictures.drawing import encoded

    try:
        made = make()
    except (FormatError, OSError, ValueError, ImportError) as error:
        return PagePicture(name, f"Not drawn: {safe(_reason(error))}")
    data = encoded(made, "svg", settings={"svg.fonttype": "none"})
    words = safe(made.alternative)
    return PagePicture(made.heading, words, inline(data, f"f{number}-{name}-", words))


def _reason(error: Exception) -> str:
    """Return the message of an error, without the number of a system error."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {for_command_line(error.strerror or '')}"
    return str(error)


def report_of_differences(
    names: tuple[str, str], differences: "Differences", findings: Findings
) -> PageFile:
    """Return the report of a comparison: each difference with its place and both values."""
    one, other = (safe(name) for name in names)
    of = f"{differences.differing:,} of {differences.compared:,} {differences.what} differ"
    rows = [(safe(each.path), safe(each.one), safe(each.other)) for each in differences.first]
    tables = [PageTable("The first differences", ("place", one, other), rows)] if rows else []
    return PageFile(
        name=f"{one} and {other}",
        about=of if differences else "The files are equal in meaning.",
        verdict=verdict(findings),
        findings=[PageFinding.of(each.for_command_line(), _means(each.code)) for each in findings],
        tables=tables,
    )


def _picture(family: Family, model: Model, name: str, how: "PictureOptions") -> "Picture":
    import numpy as np

    most = _UNITS.get(name, _FEW)
    which = None if most is None or len(model) <= most else np.arange(most)
    return family.picture(model, name, replace(how, which=which))
