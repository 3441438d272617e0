"""The page of faults and promises: all are there, and so are the tests that it names."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs" / "reliability.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "fault |" not in line]


def test_every_fault_is_there() -> None:
    numbers = [int(match[1]) for row in ROWS if (match := re.match(r"\| (\d+)\. ", row))]
    assert numbers == list(range(1, 29))


def test_every_promise_has_tests_that_exist() -> None:
    missing = []
    for row in ROWS:
        cells = re.split(r"(?<!\\)\|", row)[1:-1]
        assert len(cells) == 3, row
        named = re.findall(r"`([\w/]+)::(test_\w+)`", cells[2])
        assert named, row
        for module, name in named:
            tree = ast.parse((HERE / f"{module}.py").read_bytes())
            known = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
            if name not in known:
                missing.append(f"{module}::{name}")
    assert not missing
