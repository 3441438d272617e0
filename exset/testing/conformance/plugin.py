"""A plug-in of pytest: one test for each case.

    pytest_plugins = ["exset.testing.conformance.plugin"]

    @pytest.mark.conformance("ex", without=["sparse"], skip=["numbers-hexadecimal"])
    def test_my_reader(conformance_case):
        check_case(my_reader, conformance_case, without=["sparse"])

A case that needs a feature in `without` is skipped; a case that matches `skip` must fail. `only`
selects cases by patterns. `folder`: use the cases in this folder instead of exset's cases.
"""

from collections.abc import Iterator, Sequence

import pytest

from exset.testing.conformance.cases import cases
from exset.testing.conformance.folder import cases_in
from exset.testing.conformance.judge import Judge
from exset.testing.conformance.runner import features_of, matches, selected

FIXTURE = "conformance_case"
"""The argument through which a test gets a case."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark `conformance`."""
    words = "without=(), skip=(), only=(), folder=None"
    text = f"conformance(format, *, {words}): one test for each case"
    config.addinivalue_line("markers", text)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """If a test has the mark `conformance`, make a test for each case."""
    if FIXTURE not in metafunc.fixturenames:
        return
    if (mark := metafunc.definition.get_closest_marker("conformance")) is None:
        pytest.fail(f"{metafunc.definition.name} needs the mark conformance", pytrace=False)
    metafunc.parametrize(FIXTURE, list(_params(*mark.args, **mark.kwargs)))


def _params(
    format: str,
    *,
    without: Sequence[str] = (),
    skip: Sequence[str] = (),
    only: Sequence[str] = (),
    folder: str | None = None,
) -> Iterator[object]:
    all_cases = cases(format) if folder is None else cases_in(folder, format)
    judge = Judge(without=features_of(without, all_cases))
    selected(all_cases, skip)
    for case in selected(all_cases, only):
        marks = []
        if not judge.supports(case):
            marks.append(pytest.mark.skip(reason="the reader does not support this"))
        elif matches(case, skip):
            marks.append(pytest.mark.xfail(strict=True, reason="the case is in skip"))
        yield pytest.param(case, id=case.name, marks=marks)
