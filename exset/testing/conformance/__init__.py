"""The conformance kit: test any reader or writer of exset's formats against exset.

    from exset.testing import conformance

    def test_my_reader() -> None:
        conformance.check(my_reader, "ex")

`my_reader` gets the contents of a file and returns the meaning of the file: its data as JSON, in
the form that `schema("lens")` describes. For an invalid file it raises ValueError. `exset
conformance run` does the same for programs in any language. Only generated cases need Hypothesis.
"""

from collections.abc import Callable, Mapping, Sequence

from exset.testing.conformance.cases import VERSION, Case, cases, formats
from exset.testing.conformance.export import export
from exset.testing.conformance.folder import cases_in, keep
from exset.testing.conformance.judge import Judge, Result, Role
from exset.testing.conformance.meanings import meaning, schema
from exset.testing.conformance.readers import FunctionReader, LoopReader, ProgramReader, Reader
from exset.testing.conformance.runner import Score, features_of, run, score, selected

__all__ = [
    "VERSION",
    "Case",
    "FunctionReader",
    "Judge",
    "LoopReader",
    "NotConforming",
    "ProgramReader",
    "Reader",
    "Result",
    "Role",
    "Score",
    "cases",
    "cases_in",
    "check",
    "check_case",
    "export",
    "formats",
    "keep",
    "meaning",
    "run",
    "schema",
    "score",
    "selected",
]


class NotConforming(AssertionError):
    """A reader is wrong on some cases.

    `results` has the results of these cases; the message lists the first 20.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        lines = [f"{len(results)} of the cases fail:"]
        for each in results[:20]:
            lines.append(f"{each.case.id} {each.outcome}: {'; '.join(each.messages)}")
        super().__init__("\n  ".join(lines))
        self.results = results


def check(
    reader: Callable[..., Mapping[str, object] | bytes | None],
    format: str,
    *,
    role: Role = "decoder",
    without: Sequence[str] = (),
    skip: Sequence[str] = (),
    only: Sequence[str] = (),
    folder: str | None = None,
) -> Score:
    """Check a reader against all cases of a format, or those that match `only`; return its score.

    - `reader`: a function that gets the contents of a file and returns its meaning. To refuse a
      file, it returns None or raises ValueError.
    - `without`: features that the reader does not support.
    - `skip`: patterns of cases that need not pass.
    - `folder`: use the cases in this folder instead; see `cases_in`.

    Raises NotConforming if a case fails, and ValueError for a pattern or a feature that no case
    has.
    """
    all_cases = cases(format) if folder is None else cases_in(folder, format)
    judge = Judge(role, without=features_of(without, all_cases))
    selected(all_cases, skip)
    chosen = selected(all_cases, only)
    results = list(run(lambda: FunctionReader(reader), chosen, judge, skip=skip))
    if wrong := [each for each in results if each.failed]:
        raise NotConforming(wrong)
    return score(results)


def check_case(
    reader: Callable[..., Mapping[str, object] | bytes | None],
    case: Case,
    *,
    role: Role = "decoder",
    without: Sequence[str] = (),
) -> Result:
    """Check a reader against one case. Raises NotConforming if the reader is wrong."""
    judge = Judge(role, without=frozenset(without))
    for result in run(lambda: FunctionReader(reader), [case], judge):
        if result.failed:
            raise NotConforming([result])
        return result
    return Result(case, "unsupported")
