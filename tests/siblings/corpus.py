"""The files of sibling formats, and what their own programs make of them."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What a program makes of a file: `accept`, `reject` and so on; values: what it read."""

    path: str
    oracle: str
    args: str
    verdict: str
    values: Any
    note: str


def verdicts(folder: Path) -> Iterator[Verdict]:
    """Yield the verdicts on the files of a folder."""
    with (folder / "verdicts.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            has = row["values"] and row["values"].endswith(".json")
            values = json.loads((folder / row["values"]).read_text()) if has else None
            yield Verdict(
                row["path"], row["oracle"], row["args"], row["verdict"], values, row["note"]
            )
