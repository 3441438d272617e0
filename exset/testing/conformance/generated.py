"""Draw random cases with Hypothesis, and find the smallest case on which a reader is wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Final, cast

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
from exset.testing.conformance.readers import NO_OPTIONS, Reader
from exset.testing.lbann_texts import list_texts
from exset.testing.targets import collected

_TEXTS: Final = {
    "ex": "exset.testing.lens_texts:lens_texts",
    "sample_list": "exset.testing.lbann_texts:list_texts",
    "schema": "exset.testing.lbann_texts:schema_texts",
    "schema_pair": "exset.testing.lbann_texts:pair_requests",
    "manifest": "exset.testing.aeon_texts:manifest_texts",
    "loader_config": "exset.testing.aeon_texts:config_texts",
    "block": "exset.testing.aeon_texts:block_files",
    "sampler": "exset.testing.sampler_requests:sampler_requests",
}
"""The strategies for files as people write them."""

_INTEGERS: Final = MappingProxyType({"ids": "integer"})
"""The options of a reader of lists whose ids are integers."""

_DIFFERS: Final = frozenset(
    (
        *("aeon-block-shift", "aeon-block-empty", "cpio-trailing-bytes", "cpio-name", "json-bom"),
        *("json-duplicate", "aeon-surplus", "aeon-overlooked", "aeon-int-overflow"),
        *("aeon-base64-memory", "aeon-lax-base64", "lbann-two-levels", "lbann-merge-key"),
        *("lbann-tag", "lbann-second-document", "lbann-slash", "lens-nul"),
    )
)
"""Codes of findings about files that the real systems read differently, or on which they crash."""


_ROUND: Final = 10
"""How many files one seed draws; after more, Hypothesis would only change earlier files."""


def contents(format: str) -> st.SearchStrategy[bytes]:
    """Return a strategy for the contents of cases: files of a format, or requests as JSON.

    Some of the files are as exset writes them, the others as people could write them. Raises
    ValueError for a format without a strategy.
    """
    texts = _strategy(_TEXTS[format]) if format in _TEXTS else None
    if texts is not None and format in meanings.REQUESTS:
        return texts
    fmt = formats.get(format)
    if fmt.strategy is None:
        raise ValueError(f"there is no strategy for {format} files")
    models = cast(Callable[[], st.SearchStrategy[Model]], load(fmt.strategy))()
    written = models.map(partial(_written, format)).filter(lambda data: data is not None)
    files = cast(st.SearchStrategy[bytes], written)
    return files if texts is None else st.one_of(texts, texts, texts, files)


def drawings(format: str) -> st.SearchStrategy[tuple[bytes, Mapping[str, str]]]:
    """Return a strategy for pairs: a file of a format, and options for the file's reader.

    Raises ValueError for a format without a strategy.
    """
    plain = contents(format).map(lambda data: (data, NO_OPTIONS))
    if format != "sample_list":
        return plain
    integers = list_texts(integers=True).map(lambda data: (data, _INTEGERS))
    return st.one_of(plain, plain, plain, integers)


def _strategy(target: str) -> st.SearchStrategy[bytes]:
    return cast(Callable[[], st.SearchStrategy[bytes]], load(target))()


def _written(format: str, model: Model) -> bytes | None:
    try:
        return formats.get(format).write(model, findings=Findings())
    except FormatError:  # the format holds less than its family
        return None


def files(format: str, count: int, start: int) -> list[bytes]:
    """Return `count` random files; the same seed `start` gives the same files."""
    strategy = contents(format)
    rounds = range(-(-count // _ROUND))
    drawn = [data for each in rounds for data in collected(strategy, _ROUND, start + each)]
    return drawn[:count]


@dataclass(frozen=True)
class Found:
    """The smallest file on which a reader is wrong.

    `draws`: how many files were drawn until the reader was wrong.
    """

    result: Result
    draws: int


def case_of(
    data: bytes,
    format: str,
    name: str = "generated",
    options: Mapping[str, str] = NO_OPTIONS,
) -> Case:
    """Return the case of a file; exset determines the verdict and the meaning.

    `options`: the options of exset's reader. The verdict is `differs` if exset reads the file, but
    real systems disagree about it or fail.
    """
    findings = Findings()
    needed = ("integers",) if options == _INTEGERS else ()
    try:
        document = meanings.meaning(data, format, findings=findings, options=options)
    except FormatError as error:
        rule = str(error.finding.message)
        return Case(name, format, "invalid", data, rule, "all", needed, options=options)
    differs = any(each.code.endswith("-refuses") or each.code in _DIFFERS for each in findings)
    verdict: Verdict = "differs" if differs else "valid"
    features = tuple(sorted({*meanings.family_of(format).features(document), *needed}))
    return Case(
        *(name, format, verdict, data, "a drawn file", "all", features),
        options=options,
        meaning=document,
    )


def search(
    reader: Reader, format: str, count: int, judge: Judge | None = None, start: int = 0
) -> Found | None:
    """Draw up to `count` files; return the smallest file on which the reader is wrong.

    Return None if the reader is never wrong. `start`: the seed; the same seed draws the same files.
    The reader must always give the same answer to the same file. Raises ValueError for a format
    without a strategy.
    """
    judge = judge or Judge()
    strategy = drawings(format)
    for drawn in range(0, count, _ROUND):
        limit = min(_ROUND, count - drawn)
        found = _round(reader, format, strategy, judge, start + drawn // _ROUND, limit)
        if found is not None:
            return replace(found, draws=drawn + found.draws)
    return None


def _round(
    reader: Reader,
    format: str,
    strategy: st.SearchStrategy[tuple[bytes, Mapping[str, str]]],
    judge: Judge,
    start: int,
    count: int,
) -> Found | None:
    """Draw up to `count` files with the seed `start`; return what `search` returns.

    strategy: draws a file and its options.
    """
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
    @given(strategy)
    def test(drawing: tuple[bytes, Mapping[str, str]]) -> None:
        nonlocal drawn
        drawn += not wrong
        data, options = drawing
        case = case_of(data, format, options=options)
        if (question := judge.question(case)) is None or not judge.supports(case):
            return
        result = judge.judge(case, reader.answer(question, options))
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
