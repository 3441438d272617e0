"""Write the meanings of the declared cases, and draw cases from the strategies: `data/*.jsonl`.

    python -m tests.conformance.keep

Run it after a change of the tables, and read the difference: a meaning that changes is a change of
exset. Cases that are drawn stay as they are, unless `--draw` draws all of them again.
"""

import json
import os
import sys
from base64 import b64encode
from collections.abc import Iterator

from exset.core.errors import FormatError
from exset.testing.conformance import meanings
from exset.testing.conformance.cases import HOME, Case, declared, tables
from exset.testing.conformance.nodes import Document

DRAWN = {"ex": 30, "bex": 20, "sample_list": 12, "manifest": 12}
"""The number of drawn cases of each format."""

SEED = 19


def declared_rows() -> Iterator[tuple[str, Document]]:
    for table in tables(".toml"):
        for case in declared(table):
            yield table.partition("-")[0], declared_row(case)


def declared_row(case: Case) -> Document:
    """The row of a case; its meaning is null for a file that exset refuses."""
    try:
        document = meanings.meaning(case.data, case.format, options=case.options)
    except FormatError:
        assert case.verdict != "valid", f"exset refuses {case.id}"
        return {"format": case.format, "name": case.name, "features": [], "meaning": None}
    assert case.verdict != "invalid", f"exset accepts {case.id}"
    return _row(case.format, case.name, document)


def drawn_rows(format: str, count: int) -> Iterator[tuple[str, Document]]:
    from exset.testing.conformance.generated import files

    seen = set[str]()
    for data in files(format, 25 * count, SEED):
        try:
            document = meanings.meaning(data, format)
        except FormatError:
            continue
        if (
            len(data) > 400
            or (key := json.dumps(document)) in seen
            or len(key) < (900 if "ex" in format else 200)
        ):
            continue
        seen.add(key)
        row = _row(format, f"drawn-{len(seen):02}", document)
        yield (
            meanings.family_name(format).partition("-")[0],
            {**row, "data": b64encode(data).decode()},
        )
        if len(seen) == count:
            return


def _row(format: str, name: str, document: Document) -> Document:
    features = sorted(meanings.family_of(format).features(document))
    return {"format": format, "name": name, "features": [*features], "meaning": document}


def kept_rows() -> Iterator[tuple[str, Document]]:
    """The drawn cases that there are."""
    for name in tables(".jsonl"):
        with open(os.path.join(HOME, name)) as file:
            for line in file:
                if "data" in (row := json.loads(line)):
                    yield name.removesuffix(".jsonl"), row


def main() -> None:
    draw = "--draw" in sys.argv
    drawn = (
        [each for pair in DRAWN.items() for each in drawn_rows(*pair)] if draw else [*kept_rows()]
    )
    rows_of: dict[str, list[Document]] = {}
    for table, row in [*declared_rows(), *drawn]:
        rows_of.setdefault(table, []).append(row)
    for table, rows in rows_of.items():
        with open(os.path.join(HOME, f"{table}.jsonl"), "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
