"""Export the cases as plain files: for each case its file and its meaning as JSON, and an index."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from exset.io import files
from exset.testing.conformance import meanings
from exset.testing.conformance.cases import VERSION, Case, cases

INDEX: Final = "index.json"
_README: Final = """\
Conformance cases of exset, version {version}.

FORMAT/valid/NAME.FORMAT      a file that a reader must accept
FORMAT/invalid/NAME.FORMAT    a file that a reader must refuse
FORMAT/differs/NAME.FORMAT    a file on which the real systems disagree, or crash
NAME.meaning.json             what the file next to it means
FAMILY.schema.json            the JSON schema of the meanings of a family
index.json                    rule, section of the manual, features and severity of each case
"""


def exported(format: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the contents of each file of the export."""
    chosen = cases(format)
    yield "README.txt", _README.format(version=VERSION).encode("ascii")
    for family in dict.fromkeys(meanings.family_name(each.format) for each in chosen):
        yield f"{family}.schema.json", meanings.schema(family)
    for case in chosen:
        yield case.path, case.data
        if case.meaning is not None:
            yield case.meaning_path, meanings.dumped(case.meaning, indent=1)
    yield INDEX, index(map(row, chosen))


def index(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return an index with the given entries as JSON."""
    lines = ",\n".join(json.dumps(each) for each in rows)
    return f'{{"version": {VERSION}, "cases": [\n{lines}\n]}}\n'.encode("ascii")


def row(case: Case) -> dict[str, object]:
    """Return the entry of a case in the index."""
    found: dict[str, object] = {
        "name": case.name,
        "format": case.format,
        "verdict": case.verdict,
        "path": case.path,
        "meaning": None if case.meaning is None else case.meaning_path,
        "rule": case.rule,
        "section": case.section,
        "features": [*case.features],
        "severity": case.severity,
        "agree": [*case.agree],
    }
    optional = {"systems": dict(case.systems), "options": dict(case.options)}
    return found | {name: value for name, value in optional.items() if value}


def export(folder: str, format: str | None = None) -> int:
    """Write all cases, or all cases of a format, to a folder; return the number of files.

    Existing files with these names are replaced. Raises OSError, and ValueError for an unknown
    format.
    """
    count = 0
    for path, data in exported(format):
        target = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        files.write(target, data)
        count += 1
    return count
