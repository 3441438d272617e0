"""Run a command on several files: report each file, and continue after an error."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from exset.cli.output import Exit, progress, report_error
from exset.cli.reports import SCHEMA, as_finding, findings_row, json_rows, write_row
from exset.core import progress as bytes_of_files
from exset.core.errors import Findings, FormatError
from exset.core.jobs import Execution, run
from exset.core.outcome import Item
from exset.core.parts import divided, whole


@dataclass(frozen=True)
class FileResult:
    """The findings of one file, and its exit code. Subclasses add the results of a command."""

    findings: Findings
    exit: Exit = Exit.OK


Result = TypeVar("Result", bound=FileResult)


class Divider(Protocol[Result]):
    """Divides the work on large files into parts, and joins the results."""

    def counts(self, paths: Sequence[Any], /) -> Sequence[int]:
        """Return into how many parts each file is divided."""

    def part_of(self, item: Any, rank: int, count: int, /) -> Any:
        """Return part `rank` (from 0) of a file that is divided into `count` parts."""

    def joined(self, path: Any, parts: Sequence[Result], /) -> Result:
        """Join the results of the parts of a file."""


def for_each_file(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    row: Callable[[Item, Result | None], Mapping[str, object]],
    show: Callable[[Item, Result], None],
    jobs: Execution,
    action: str,
    visible: bool = True,
    measured: bool = True,
    returns: type[FileResult] = FileResult,
    divider: "Divider[Result] | None" = None,
    change: Callable[[Item, Result], Result] | None = None,
    failed: Callable[[Item, FormatError | OSError], object] | None = None,
) -> int:
    """Run `work` on every file and report each result; return the highest exit code.

    After an error in a file, exset continues with the other files. A terminal shows the progress of
    the `action`.

    - `row`: with `--json`, returns the members that the command adds to the JSON object of a file.
      Its `Result` argument is None if the file has an error.
    - `show`: without `--json`, writes a result as text.
    - `visible`: whether `show` writes anything. If so, exset shows no progress while standard
      output is a terminal.
    - `measured` and `returns`: as in `exset.core.jobs.run`.
    - `divider`: divides large files into parts. `work` then runs on the parts.
    - `change`: changes each result before it is reported.
    - `failed`: is called for each file with an error, after the error was written.
    """
    rows = json_rows()
    worst = Exit.OK
    jobs = replace(jobs, watch=partial(progress, action=action, visible=visible))
    how: dict[str, Any] = {"jobs": jobs, "measured": measured, "returns": returns}
    if divider is None:
        outcomes = run(work, items, **how)
    else:
        paths: Sequence[Any] = items
        counts = jobs.known_parts(paths) or divider.counts(paths)
        units = divided(paths, counts, divider.part_of)
        outcomes = whole(run(work, units, **how), items, units, divider.joined)
    for done in outcomes:
        bytes_of_files.end()
        if change is not None and done.value is not None:
            done = replace(done, value=change(done.item, done.value))
        try:
            if rows is not None:
                path: str | os.PathLike[str] = done.item
                error = None if done.error is None else as_finding(done.error).to_dict()
                ok = done.value is not None and done.value.exit is Exit.OK
                findings = Findings() if done.value is None else done.value.findings
                head = {"schema": SCHEMA, "file": os.fspath(path), "ok": ok, "error": error}
                write_row({**head, **row(done.item, done.value), **findings_row(findings)})
            result = done.result()
            if rows is None:
                show(done.item, result)
            code = result.exit
        except BrokenPipeError:
            raise
        except (FormatError, OSError) as error_of_file:
            code = report_error(error_of_file)
            if failed is not None:
                failed(done.item, error_of_file)
        worst = max(worst, code)
    return worst
