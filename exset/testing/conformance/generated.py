"""Cases that Hypothesis draws, and the smallest ones on which a reader is wrong."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from exset import formats
from exset.core.errors import Findings, FormatError
from exset.core.protocols import Model
from exset.families.family import load
from exset.testing.conformance import meanings
from exset.testing.conformance.cases import Case, Verdict
from exset.testing.conformance.judge import Judge, Result
from exset.testing.conformance.readers import Reader
from exset.testing.lens_texts import lens_texts
from exset.testing.targets import collected

_TEXTS: dict[str, Callable[[], st.SearchStrategy[bytes]]] = {"ex": lens_texts}


def contents(format: str) -> st.SearchStrategy[bytes]:
    """Return a strategy for files of a format: written models and, for some formats, texts."""
    fmt = formats.get(format)
    if fmt.strategy is None:
        raise ValueError(f"there is no strategy for {format} files")
    models = cast(Callable[[], st.SearchStrategy[Model]], load(fmt.strategy))()
    written = models.map(partial(_written, format)).filter(lambda data: data is not None)
    files = cast(st.SearchStrategy[bytes], written)
    if format not in _TEXTS:
        return files
    texts = _TEXTS[format]()
    return st.one_of(texts, texts, texts, files)


def _written(format: str, model: Model) -> bytes | None:
    try:
        return formats.get(format).write(model, findings=Findings())
    except FormatError:  # the format holds less than its family
        return None


def files(format: str, count: int, start: int) -> list[bytes]:
    """Return drawn files, always the same for a seed `start`."""
    return collected(contents(format), count, start)


@dataclass(frozen=True)
class Found:
    """The smallest drawn file on which a reader is wrong, with the number of files drawn for it."""

    result: Result
    draws: int


def case_of(data: bytes, format: str, name: str = "generated") -> Case:
    """Return a case with the verdict and the meaning that exset gives.

    Where the real system fails on a file that exset reads, the case `differs`.
    """
    findings = Findings()
    document = None
    verdict: Verdict = "invalid"
    rule = "a drawn file"
    try:
        model = meanings.read(data, format, findings)
    except FormatError as error:
        rule = str(error.finding.message)
    else:
        refused = any(each.code.endswith("-refuses") for each in findings)
        verdict = "differs" if refused else "valid"
        document = meanings.family_of(format).meaning(model)
    features = [] if document is None else sorted(meanings.family_of(format).features(document))
    return Case(name, format, verdict, data, rule, "all", tuple(features), meaning=document)


def search(
    reader: Reader, format: str, count: int, judge: Judge | None = None, start: int = 0
) -> Found | None:
    """Draw up to `count` files; return the smallest one on which the reader is wrong, or None.

    `start`: the seed; the same seed draws the same files. The reader's faults must not depend on
    chance. Raises ValueError for a format without a strategy.
    """
    judge = judge or Judge()
    wrong: list[Result] = []
    drawn = 0

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(contents(format))
    def test(data: bytes) -> None:
        nonlocal drawn
        drawn += not wrong
        case = case_of(data, format)
        if (question := judge.question(case)) is None or not judge.supports(case):
            return
        result = judge.judge(case, reader.answer(question))
        if result.failed:
            wrong.append(result)
            raise AssertionError

    try:
        test()
    except AssertionError:
        return Found(wrong[-1], drawn)
    except Flaky:
        smallest = min(wrong, key=lambda each: len(each.case.data))
        message = "the reader does not always give the same answer"
        return Found(replace(smallest, messages=(*smallest.messages, message)), drawn)
    return None
