"""The verdicts of other programs on files of tables."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exset.grammars.tables.table import Table


@dataclass(frozen=True)
class Verdict:
    """What a program makes of a file: `accept`, `reject` and so on, with its values."""

    path: str
    args: str
    verdict: str
    values: Any


def verdicts(folder: Path) -> Iterator[Verdict]:
    """Yield the verdicts on the files of a folder."""
    with (folder / "verdicts.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            values = json.loads((folder / row["values"]).read_text()) if row["values"] else None
            yield Verdict(row["path"], row["args"], row["verdict"], values)


def rows(table: Table, name: str) -> list[Any]:
    """Return the values of a column."""
    return [row[name] for row in table]
