"""Errors of files, and collections of findings."""

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import ClassVar, Self, TypeVar

from exset.core.finding import Finding as Finding
from exset.core.finding import Place as Place
from exset.core.finding import Severity as Severity
from exset.core.source import Source, Span
from exset.core.text import Advice, counted

T = TypeVar("T")

_INDEX = re.compile(r"\[(\d+)\]")

_INSIDE = ("exset", "contextlib")
"""The packages whose lines are not the caller's."""
MOST_ERRORS = 20
"""How many errors of an invalid text are reported at most."""

STOPPED = f"exset stops after {MOST_ERRORS} errors"
"""What a report says if there are more errors."""

_STRICT = Advice.of("<--strict or strict=True> makes this warning an error")


class FormatError(ValueError):
    """A file that cannot be read, or a value that a format cannot store.

    `finding` is the first error, with its code, message, place and hint.
    """

    default_code: ClassVar[str] = "syntax"

    def __init__(
        self,
        message: str,
        *,
        source: Source | None = None,
        span: Span | None = None,
        hint: str | None = None,
        code: str | None = None,
        place: Place | None = None,
    ) -> None:
        """Describe the error. Its place is `place`, else a span of `source`, else all of it."""
        super().__init__(message)
        if source is not None:
            place = Place(source.name) if span is None else Place.in_text(source, span)
        self.finding = Finding(code or self.default_code, Severity.ERROR, message, place, hint)
        self.later: Findings | None = None

    @classmethod
    def of(cls, finding: Finding, later: "Findings | None" = None) -> Self:
        """Return an error for a finding. `later`: the later errors of the same file."""
        error = cls(finding.message)
        error.finding = finding
        error.later = later if later is not None and later.count() else None
        return error

    @property
    def findings(self) -> "Findings":
        """All errors that exset found in the file: `finding` first, then up to 19 later errors.

        The collection's attribute `stopped` says whether the file has more errors than these.
        """
        found = Findings()
        found.add(self.finding)
        if self.later is not None:
            found.add_all(self.later)
        return found

    def add(self, finding: Finding) -> bool:
        """Add a later error of the same file, and return True.

        If there are already 20 errors (MOST_ERRORS), do not add this error: only record that there
        are more, and return False.
        """
        self.later = Findings() if self.later is None else self.later
        if self.later.count() < MOST_ERRORS - 1:
            self.later.add(finding)
        else:
            self.later.stopped = True
        return not self.later.stopped

    def changed(self, change: "Callable[[Finding], Finding]") -> Self:
        """Return a new error: its findings are what `change` makes of this error's findings."""
        later = None
        if self.later is not None:
            later = Findings()
            ChangedFindings(later, change).add_all(self.later)
        return type(self).of(change(self.finding), later)

    @property
    def message(self) -> str:
        """What is wrong, without place and hint."""
        return self.finding.message

    @property
    def place(self) -> Place | None:
        """The place of the error."""
        return self.finding.place

    @property
    def hint(self) -> str | None:
        """How to fix it."""
        return self.finding.hint

    @property
    def code(self) -> str:
        """The code of the error, such as `syntax`, which stays the same in later versions."""
        return self.finding.code

    def __str__(self) -> str:
        if self.later is None:
            return str(self.finding)
        more = counted(self.later.count(), "more error")
        if self.later.stopped:
            more += f", and others after them: {STOPPED}"
        return f"{self.finding}\n(and {more})"


class LimitError(FormatError):
    """A file that exceeds a limit of `Limits`, such as `max_events`."""

    default_code = "limit"


class FormatWarning(UserWarning):
    """A warning: a file was read, but has findings."""


class Findings:
    """A collection of findings: all are counted, and the first `keep` of each code are kept.

    With `strict`, warnings and errors are raised as FormatError instead. `stopped` is True if a
    file has more than `MOST_ERRORS` errors: the later errors were not added.
    """

    def __init__(self, strict: bool = False, keep: int = 100) -> None:
        self.strict = strict
        self.keep = keep
        self.stopped = False
        self._kept: list[Finding] = []
        self._counts: Counter[str] = Counter()
        self._severities: set[Severity] = set()

    def add(self, finding: Finding, times: int = 1) -> None:
        """Add a finding; if the collection is strict, raise FormatError for a warning or an error.

        `times`: how many findings of the same code this finding represents.
        """
        if self.strict and finding.severity is not Severity.NOTE:
            raise FormatError.of(_strictly(finding))
        if self._counts[finding.code] < self.keep:
            self._kept.append(finding)
        self._counts[finding.code] += times
        self._severities.add(finding.severity)

    def add_each(self, items: Sequence[T], make: Callable[[T], Finding]) -> None:
        """Add a finding for each item; all these findings have the same code.

        `make`: a function that returns the finding of an item. It is called only for the findings
        that the collection keeps, because the others are only counted.
        """
        for rank, item in enumerate(items[: self.keep]):
            self.add(make(item), len(items) - rank if rank == self.keep - 1 else 1)

    def add_all(self, findings: "Findings") -> None:
        """Add all findings of another collection, and the counts of those that it did not keep."""
        self.stopped = self.stopped or findings.stopped
        self.add_counted([*findings], findings._counts)

    def add_counted(self, kept: Sequence[Finding], counts: Mapping[str, int]) -> None:
        """Add `kept`, the findings that another collection kept, and count its other findings.

        `counts`: how many findings of each code the other collection counted without keeping them.
        """
        last = {finding.code: rank for rank, finding in enumerate(kept)}
        of_code = Counter(finding.code for finding in kept)
        for rank, finding in enumerate(kept):
            more = counts[finding.code] - of_code[finding.code] if rank == last[finding.code] else 0
            self.add(finding, 1 + more)

    def unkept(self) -> Counter[str]:
        """Return, for each code, how many findings were counted but not kept."""
        return self._counts - Counter(finding.code for finding in self._kept)

    def sort(self, *, lines_first: bool = False) -> None:
        """Sort the findings of each file by place. By default, findings without a line come first.

        `lines_first`: findings without a line come last instead, in the order of the indices in
        their fields, such as 3 in `examples[3]`.
        """
        files: dict[str | None, int] = {}

        def order(finding: Finding) -> tuple[int, bool, int, int, list[int]]:
            place = finding.place
            rank = files.setdefault(None if place is None else place.source, len(files))
            if place is None:
                return rank, False, 0, 0, []
            start = -1 if place.span is None else place.span.start
            is_last = lines_first and place.span is None
            indices = [*map(int, _INDEX.findall(place.field or ""))] if is_last else []
            return rank, is_last, place.line or 0, start, indices

        self._kept.sort(key=order)

    def count(self, code: str | None = None) -> int:
        """Return how many findings of one code, or of all codes, were added."""
        return self._counts.total() if code is None else self._counts[code]

    @property
    def worst(self) -> Severity | None:
        """The worst severity of the findings; None without findings."""
        return next((each for each in Severity if each in self._severities), None)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return f"<Findings: {self.count()}, worst {self.worst or 'none'}>"

    def _repr_html_(self) -> str:
        from exset.core.html import finding_table

        return finding_table(repr(self), self, self.count())


class ChangedFindings(Findings):
    """Changes each finding with a function, then adds it to another collection."""

    def __init__(self, findings: Findings, change: Callable[[Finding], Finding]) -> None:
        """Make a collection that passes each added finding through `change` to `findings`.

        The counts and severities of this collection are those of `findings`.
        """
        vars(self).update(vars(findings))
        self._findings = findings
        self._change = change

    def add(self, finding: Finding, times: int = 1) -> None:
        """Change a finding, then add it like `Findings.add`."""
        self._findings.add(self._change(finding), times)

    def add_all(self, findings: Findings) -> None:
        """Change the findings of another collection, then add them like `Findings.add_all`."""
        super().add_all(findings)
        self._findings.stopped = self.stopped


def _with_source(name: str, models: Collection[str], finding: Finding) -> Finding:
    if finding.place is None:
        return replace(finding, place=Place(name))
    if finding.place.source not in models:
        return finding
    return replace(finding, place=replace(finding.place, source=name))


@contextmanager
def with_source_name(
    name: str, *models: str, findings: Findings | None = None
) -> Iterator[Findings]:
    """Within this context, name `name` as the source of errors and findings that have no source.

    The context yields a collection that passes its findings on to `findings`. The source of some
    findings is only a word for a model, such as "example set". If this word is one of `models`,
    `name` replaces it, too.
    """
    named = partial(_with_source, name, models)
    try:
        yield ChangedFindings(Findings() if findings is None else findings, named)
    except FormatError as error:
        if named(error.finding) is error.finding:
            raise
        raise error.changed(named) from None


def _strictly(finding: Finding) -> Finding:
    """Return a finding as `strict` raises it: a warning's hint says why it is an error here."""
    if finding.severity is not Severity.WARNING:
        return finding
    hint = finding.hint
    return replace(finding, hint=hint.followed_by(_STRICT) if isinstance(hint, Advice) else _STRICT)


def collect_findings(strict: bool, findings: Findings | None) -> Findings:
    """Return the caller's collection of findings, or a new one."""
    if findings is None:
        return Findings(strict=strict)
    if strict:
        raise ValueError("strict=True and findings= cannot be combined: pass Findings(strict=True)")
    return findings


def warn(findings: Findings) -> None:
    """Issue one FormatWarning for all warnings and errors. The warning shows the caller's line."""
    kept = [finding for finding in findings if finding.severity is not Severity.NOTE]
    if not kept:
        return
    more = sum(findings.count(code) for code in {finding.code for finding in kept}) - 1
    message = str(kept[0]) + (f"\n(and {counted(more, 'more such finding')})" if more else "")
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(FormatWarning(message), stacklevel=level)
