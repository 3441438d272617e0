"""What every format promises of any bytes, checked: for exset's own formats and for yours.

from exset.formats import get
from exset.testing.contract import check

check(get("ex"), b"I:1; T:0;")
"""

import json
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from exset import formats
from exset.core.errors import Finding, Findings, FormatError, LimitError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.protocols import Model, Option
from exset.core.source import Source
from exset.families.format import Format
from exset.io.files import Blocks

if TYPE_CHECKING:
    from exset.grammars.lens.examples import ExampleSet

Rule = Literal[
    "raises", "engines", "parts", "finding", "write", "stable", "shown", "outside", "whole",
    "slow", "memory", "crash",
]  # fmt: skip
"""What can be broken: see `check`, for `outside` and `whole` `exset.testing.disk`.

The last three are for who runs it to judge.
"""

LIMITS = Limits(max_expand=100_000, max_events=50_000, max_nodes=20_000)
"""What a file may ask for while thousands of them are tried."""

ENGINES: tuple[Engine, ...] = ("auto", "table", "reference")

_FLAGS = ("compact", "unshare", "expand")
_VIEWS = ("cpio",)  # families of which each format keeps something else
_MENDED = {"lbann-totals", "lbann-no-number"}  # what a writer puts right
_UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]")


class Broken(AssertionError):
    """A promise that is not kept: which, and how."""

    def __init__(self, rule: Rule, why: str) -> None:
        """Name the promise; why says what was seen."""
        super().__init__(f"{rule}: {why}")
        self.rule = rule
        self.why = why


class Readable(Protocol):
    """What reads bytes: a format of the registry, or anything with its `read`."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Model:
        """Return what the bytes say, or raise FormatError."""
        ...


@dataclass
class Outcome:
    """What came of reading: a model or an error, and what was found."""

    model: Model | None
    error: Finding | None
    findings: list[Finding]
    counts: dict[str, int]


def check(
    known: Readable,
    data: bytes,
    *,
    engines: Sequence[Engine] = ENGINES,
    limits: Limits = LIMITS,
    step: int | None = None,
    deep: bool = True,
) -> bool:
    """Hold a reader to its promises; return whether it took the bytes.

    Raises Broken, with a rule, where
    raises: something other than FormatError left the reader;
    engines: two engines gave other models, errors or findings;
    parts: what is read in steps of `step` bytes is not what the whole gives;
    finding: a finding has no place, one outside of the file, or text that is not safe to show;
    write: something other than FormatError left a writer;
    stable: what was written without a loss is refused, or is another model when it is read, or is
        written otherwise then;
    shown: a summary, the statistics or the `repr` of a model failed.

    deep: whether the last three are looked at, too. A Python warning counts as an error.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return _check(known, data, engines, limits, step, deep)


def _check(
    known: Readable,
    data: bytes,
    engines: Sequence[Engine],
    limits: Limits,
    step: int | None,
    deep: bool,
) -> bool:
    first = _read(known.read, data, engines[0], limits)
    for engine in engines[1:]:
        if (other := _read(known.read, data, engine, limits)) != first:
            raise Broken("engines", f"{engines[0]} gives {first}\n{engine} gives {other}")
    for finding in (*first.findings, *filter(None, [first.error])):
        if finding.place is None:
            raise Broken("finding", f"no place: {finding!r}")
        if finding.place.span is not None and finding.place.span.end > len(data):
            raise Broken("finding", f"a place beyond the end: {finding!r}")
        check_finding(finding)
    if step and isinstance(known, Format) and known.streamer:
        _check_parts(known, data, first, limits, step)
    if first.model is None:
        return False
    if deep and isinstance(known, Format):
        mended = not _MENDED.isdisjoint(first.counts)
        _check_written(known, first.model, limits, mended)
        _check_shown(known, first.model)
    return True


def _read(read: Callable[..., Model], data: bytes, engine: Engine, limits: Limits) -> Outcome:
    findings, model, error = Findings(), None, None
    source = Source("x", data)
    try:
        model = read(source, limits=limits, findings=findings, engine=engine)
    except FormatError as found:
        error = found.finding
    except Exception as found:
        raise Broken("raises", f"{engine}: {described(found)}") from found
    return _outcome(model, error, findings)


def _outcome(model: Model | None, error: Finding | None, findings: Findings) -> Outcome:
    kept = list(findings)
    return Outcome(model, error, kept, {each.code: findings.count(each.code) for each in kept})


def check_finding(finding: Finding) -> None:
    """See that a finding says something, and that it can be shown; raises Broken."""
    text = str(finding)
    if not finding.message:
        raise Broken("finding", f"no message: {finding!r}")
    json.dumps(finding.to_dict(), allow_nan=False).encode("ascii")
    if _UNSAFE.search(text):
        raise Broken("finding", f"not safe to show: {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Broken("finding", f"not text: {text!r}") from error


def _check_parts(known: Format, data: bytes, whole: Outcome, limits: Limits, step: int) -> None:
    pieces = (data[at : at + step] for at in range(0, len(data), step))
    parts: list[ExampleSet] = []
    findings, error = Findings(), None
    try:
        blocks = Blocks("x", pieces, None, is_pipe=True)
        parts.extend(known.stream(blocks, limits=limits, findings=findings))
    except FormatError as found:
        error = found.finding
    except Exception as found:
        raise Broken("raises", f"in parts: {described(found)}") from found
    model = parts[0].concat(*parts[1:]) if parts and error is None else None
    if (read := _outcome(model, error, findings)) != whole:
        raise Broken("parts", f"in steps of {step} it gives {read}\nas a whole {whole}")


def _check_written(known: Format, model: Model, limits: Limits, mended: bool) -> None:
    for other in dict.fromkeys((known, *formats.every())):
        if other.family != known.family:
            continue
        ways: list[dict[str, Option]] = [{}]
        if "lossy" in other.options:
            ways.append({"lossy": True})
        if flags := [flag for flag in _FLAGS if flag in other.options]:
            ways.append(dict.fromkeys(flags, True))
        for options in ways:
            same = other is known or known.family.name not in _VIEWS
            _check_way(other, model, limits, options, same and not mended)


def _check_way(
    other: Format, model: Model, limits: Limits, options: dict[str, Option], same: bool
) -> None:
    how = f"{other.name} with {options or 'no options'}"
    findings = Findings()
    data = _write(other, model, findings, options, how)
    if data is None:
        return
    # What a text does not always say, its reader is told.
    read: Callable[..., Model] = other.read
    if "dialect" in other.read_options:
        read = partial(read, dialect=str(getattr(model, "dialect")))  # noqa: B009
    if "ids" in other.read_options:
        are_numbers = getattr(model, "has_integer_ids")  # noqa: B009
        read = partial(read, ids="integer" if are_numbers else "text")
    again = _read(read, data, "auto", limits)
    if again.error is not None:
        if again.error.code == LimitError.default_code or len(findings):
            return
        raise Broken("stable", f"{how}: what was written is refused: {again.error}\n{data!r}")
    assert again.model is not None
    if same and not len(findings) and again.model != model:
        raise Broken("stable", f"{how}: another model is read back from {data!r}")
    if (more := _write(other, again.model, Findings(), options, how)) != data:
        raise Broken("stable", f"{how}: written again, {data!r} is {more!r}")


def _write(
    other: Format, model: Model, findings: Findings, options: dict[str, Option], how: str
) -> bytes | None:
    try:
        return other.write(model, findings=findings, **options)
    except FormatError as error:
        if _UNSAFE.search(str(error)):
            raise Broken("finding", f"{how}: not safe to show: {str(error)!r}") from error
        return None
    except Exception as error:
        raise Broken("write", f"{how}: {described(error)}") from error


def _check_shown(known: Format, model: Model) -> None:
    try:
        shown = [repr(model), str(known.family.summarise(model).rows())]
        json.dumps(known.family.describe(model).to_dict(), allow_nan=False)
    except FormatError:
        return
    except Exception as error:
        raise Broken("shown", described(error)) from error
    for text in shown:
        if _UNSAFE.search(text):
            raise Broken("shown", f"not safe to show: {text!r}")


def described(error: BaseException) -> str:
    """Return an exception in words: its type, its message, and where it was raised."""
    trace, where = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        where = f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} in {code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error} ({where})"
