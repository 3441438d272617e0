"""Check the contract of a format, exset's or yours: rules that hold for any bytes.

from exset.formats import get
from exset.testing.contract import check

check(get("ex"), b"I:1; T:0;")
"""

import json
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from traceback import extract_tb
from typing import Literal, Protocol, cast

from exset import formats
from exset.core.errors import Finding, Findings, FormatError, LimitError, Severity
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.protocols import Model, OptionValue
from exset.core.source import Source
from exset.families.format import Format
from exset.io.blocks import Blocks

Rule = Literal[
    "raises", "engines", "parts", "finding", "write", "stable", "shown", "outside", "whole",
    "slow", "memory", "crash",
]  # fmt: skip
"""The rules of the contract: see `check`.

`outside` and `whole` are for readers and writers of folders; `slow`, `memory` and `crash` are for
the program that runs the check.
"""

LIMITS = Limits(max_expand=100_000, max_events=10_000, max_nodes=20_000)
"""The limits for a check of thousands of files."""

ENGINES: tuple[Engine, ...] = ("auto", "table", "reference")

_UNSAFE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff]"
)


class Broken(AssertionError):
    """A violation of a rule of the contract; `why` describes it."""

    def __init__(self, rule: Rule, why: str) -> None:
        super().__init__(f"{rule}: {why}")
        self.rule = rule
        self.why = why


class Readable(Protocol):
    """A reader of bytes: a `Format`, or any other object with the same method `read`."""

    @property
    def name(self) -> str:
        """The name of the reader."""

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Model:
        """Return the model in the source. Raises FormatError if the source is invalid."""


@dataclass
class Outcome:
    """The result of reading some bytes: a model or an error, and findings.

    later: the errors after the first one. counts: how many findings each code has.
    """

    model: Model | None
    error: Finding | None
    findings: list[Finding]
    counts: dict[str, int]
    later: list[Finding] = field(default_factory=list)

    @classmethod
    def of(cls, model: Model | None, error: Finding | None, findings: Findings) -> "Outcome":
        """Make an outcome from a model or an error, and from the findings of a collection."""
        kept = list(findings)
        return cls(model, error, kept, {each.code: findings.count(each.code) for each in kept})


def check(
    reader: Readable,
    data: bytes,
    *,
    engines: Sequence[Engine] = ENGINES,
    limits: Limits = LIMITS,
    step: int | None = None,
    deep: bool = True,
    turn: int | None = None,
) -> bool:
    """Check the contract of a reader; return whether it accepted the bytes.

    Raises Broken with one of these rules:
    - raises: the reader raised something other than FormatError;
    - engines: two engines gave different models, errors or findings;
    - parts: reading in chunks of `step` bytes gave another outcome than reading all at once;
    - finding: a finding has no place, a place outside of the file, or text that is not safe to
      show;
    - write: a writer raised something other than FormatError;
    - stable: a file that was written without a loss cannot be read, or gives another model, or has
      other bytes when it is written a second time; after a loss, when it is written a third time;
    - shown: a summary, the statistics or the `repr` of a model failed.

    `deep`: whether to check the last three rules. `turn`: a number from 0. With an even one, the
    model is written in its own format; with an odd one, in the next of its family's other formats.
    Without `turn`, the model is written in all formats. A Python warning counts as an error.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = _read(reader.read, data, engines[0], limits)
        for engine in engines[1:]:
            if (other := _read(reader.read, data, engine, limits)) != first:
                raise Broken("engines", f"{engines[0]} gives {first}\n{engine} gives {other}")
        for finding in (*first.findings, *filter(None, [first.error]), *first.later):
            if finding.place is None:
                raise Broken("finding", f"no place: {finding!r}")
            if finding.place.span is not None and finding.place.span.end > len(data):
                raise Broken("finding", f"a place beyond the end: {finding!r}")
            check_finding(finding)
        if step and isinstance(reader, Format) and reader.streamer:
            _check_chunks(reader, data, first, limits, step)
        if deep and isinstance(reader, Format) and first.model is not None:
            is_repaired = not first.counts.keys().isdisjoint(reader.repairs)
            _check_written(reader, first.model, limits, is_repaired, turn)
            _check_shown(reader, first.model)
    return first.model is not None


def _read(read: Callable[..., Model], data: bytes, engine: Engine, limits: Limits) -> Outcome:
    findings, model, error = Findings(), None, None
    later: list[Finding] = []
    source = Source("x", data)
    try:
        model = read(source, limits=limits, findings=findings, engine=engine)
    except FormatError as found:
        error, *later = found.findings
    except Exception as found:
        raise Broken("raises", f"{engine}: {described(found)}") from found
    return replace(Outcome.of(model, error, findings), later=later)


def check_finding(finding: Finding) -> None:
    """Raise Broken if a finding has no message or cannot be shown."""
    if not finding.message:
        raise Broken("finding", f"no message: {finding!r}")
    json.dumps(finding.to_dict(), allow_nan=False).encode("ascii")
    _check_text("finding", str(finding))


def _check_text(rule: Rule, text: str) -> None:
    if _UNSAFE.search(text):
        raise Broken(rule, f"not safe to show: {text!r}")


def _check_chunks(fmt: Format, data: bytes, whole: Outcome, limits: Limits, step: int) -> None:
    chunks = (data[at : at + step] for at in range(0, len(data), step))
    models: list[Model] = []
    findings, error = Findings(), None
    try:
        # Some readers read a file in any order, but a pipe as a whole.
        is_file = len(data) % 2 == 0
        size, file = (len(data), BytesIO(data)) if is_file else (None, None)
        blocks = Blocks("x", chunks, size, is_pipe=not is_file, file=file)
        models.extend(fmt.stream(blocks, limits=limits, findings=findings))
    except FormatError as found:
        error = found.finding
    except Exception as found:
        raise Broken("raises", f"in chunks: {described(found)}") from found
    model = fmt.family.unit_functions().joined(models) if models and error is None else None
    # A file that is read in chunks is read up to its first error.
    read, whole = _up_to_error(Outcome.of(model, error, findings)), _up_to_error(whole)
    if read != whole:
        raise Broken("parts", f"in chunks of {step} it gives {read}\nas a whole {whole}")


def _up_to_error(outcome: Outcome) -> Outcome:
    """Return an outcome without the findings that come after its error in the file."""
    end = _begin(outcome.error)
    kept = [each for each in outcome.findings if end < 0 or _begin(each) <= end]
    counts = {each.code: outcome.counts[each.code] for each in kept}
    return replace(outcome, findings=kept, counts=counts, later=[])


def _begin(finding: Finding | None) -> int:
    """Return the byte offset of a finding's place. Return -1 if it has no place in bytes."""
    place = None if finding is None else finding.place
    return -1 if place is None or place.span is None else place.span.start


def _check_written(
    fmt: Format, model: Model, limits: Limits, is_repaired: bool, turn: int | None
) -> None:
    others = [other for other in formats.of_family(fmt.family) if other != fmt]
    some = (fmt, *others)
    if turn is not None:
        some = (others[turn // 2 % len(others)] if turn % 2 and others else fmt,)
    for other in some:
        is_exact = not is_repaired and (other is fmt or not fmt.family.has_partial_formats)
        flags = frozenset(option.name for option in other.options if option.is_flag)
        known = set[tuple[bytes, int]]()
        for names in dict.fromkeys((frozenset[str](), flags & {"lossy"}, flags - {"lossy"})):
            _check_written_as(other, model, limits, dict.fromkeys(names, True), is_exact, known)


def _check_written_as(
    other: Format,
    model: Model,
    limits: Limits,
    options: dict[str, OptionValue],
    is_exact: bool,
    known: set[tuple[bytes, int]],
) -> None:
    """Write a model with some options, and check what was written.

    known: files that are already checked. A file in `known` is not checked again; a new one is
    added.
    """
    how = f"{other.name} with {options or 'no options'}"
    findings = Findings()
    data = _write(other, model, findings, options, how)
    if data is None or (data, len(findings)) in known:
        return
    known.add((data, len(findings)))
    # Some formats do not store an attribute of the model: an option of the reader gives it.
    values = {option.name: option.value_of(model) for option in other.read_options}
    read: Callable[..., Model] = partial(cast(Callable[..., Model], other.read), **values)
    again = _read(read, data, "auto", limits)
    if again.error is not None:
        if again.error.code == LimitError.default_code or len(findings):
            return
        raise Broken("stable", f"{how}: the file cannot be read: {again.error}\n{_part(data)!r}")
    assert again.model is not None
    if is_exact and not len(findings) and again.model != model:
        raise Broken("stable", f"{how}: another model is read back from {_part(data)!r}")
    more = _write(other, again.model, Findings(), options, how)
    if more not in (data, None) and any(each.severity is Severity.WARNING for each in findings):
        # The model that a loss leaves may make another file; that file must stay the same.
        data = more
        left = _read(read, data, "auto", limits).model
        more = None if left is None else _write(other, left, Findings(), options, how)
    if more != data:
        pairs = enumerate(zip(data, more or b"", strict=False))
        at = next(
            (at for at, (one, other) in pairs if one != other), min(len(data), len(more or b""))
        )
        now, then = _part(more or b"", at), _part(data, at)
        raise Broken("stable", f"{how}: written again, from byte {at} it is {now!r}, not {then!r}")


def _write(
    other: Format, model: Model, findings: Findings, options: dict[str, OptionValue], how: str
) -> bytes | None:
    try:
        return other.write(model, findings=findings, **options)
    except FormatError as error:
        _check_text("finding", str(error))
        return None
    except Exception as error:
        raise Broken("write", f"{how}: {described(error)}") from error


def _check_shown(fmt: Format, model: Model) -> None:
    try:
        shown = [repr(model), str(fmt.family.summarise([model]).rows())]
        json.dumps(fmt.family.summarise([model], detailed=True).to_dict(), allow_nan=False)
    except FormatError:
        return
    except Exception as error:
        raise Broken("shown", described(error)) from error
    for text in shown:
        _check_text("shown", text)


def _part(data: bytes, begin: int = 0) -> bytes:
    """Return up to 1,000 bytes, for a message. They start up to 20 bytes before `begin`."""
    return data[max(begin - 20, 0) :][:1000]


def described(error: BaseException) -> str:
    """Return a text about an exception: its type, its message, and where it was raised."""
    return f"{type(error).__name__}: {error} ({line_of(error)})"


def line_of(error: BaseException, frame: int = -1) -> str:
    """Return the file name, line number and function of a frame in a traceback, as text.

    By default, the frame is the one that raised the error.
    """
    place = extract_tb(error.__traceback__)[frame]
    return f"{os.path.basename(place.filename)}:{place.lineno} in {place.name}"
