"""Write the meanings of the declared cases, and draw cases from the strategies: `data/*.jsonl`.

    python -m tests.conformance.keep

It also writes the JSON schema of the meaning of configurations, which follows from their tables.
Run it after a change of the tables, and read the difference: a meaning that changes is a change of
exset. Cases that are drawn stay as they are; those of the formats in `--draw manifest block` are
drawn again.
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
from tests.conformance.config_schema import config_schema

DRAWN = {"ex": 30, "bex": 20, "sample_list": 12, "manifest": 12}
DRAWN |= {"schema": 12, "schema_pair": 8, "loader_config": 12, "block": 8}
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
    from exset.testing.conformance.generated import case_of, files

    seen = set[str]()
    for data in files(format, 25 * count, SEED):
        case = case_of(data, format)
        if case.verdict != "valid" or case.meaning is None or len(data) > 600:
            continue
        document, key = case.meaning, json.dumps(case.meaning)
        if key in seen or len(key) < (900 if "ex" in format else 200):
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
    again = sys.argv[2:] if sys.argv[1:2] == ["--draw"] else []
    drawn = [pair for pair in kept_rows() if pair[1]["format"] not in again]
    drawn += [pair for format in again for pair in drawn_rows(format, DRAWN[format])]
    rows_of: dict[str, list[Document]] = {}
    for table, row in [*declared_rows(), *drawn]:
        rows_of.setdefault(table, []).append(row)
    with open(os.path.join(HOME, "aeon-config.schema.json"), "w") as file:
        file.write(json.dumps(config_schema(), indent=2) + "\n")
    for table, rows in rows_of.items():
        with open(os.path.join(HOME, f"{table}.jsonl"), "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
