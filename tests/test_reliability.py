"""The faults and promises of docs/reliability.md: CONTRIBUTING names tests for each of them."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent


def rows(page: str) -> list[list[str]]:
    """The cells of the table of faults in a page."""
    text = (HERE.parent / page).read_text("utf-8")
    table = text.partition("| fault |")[2].partition("\n\n")[0]
    lines = [line for line in table.splitlines()[2:] if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


PROMISES = rows("docs/reliability.md")
TESTS = rows("CONTRIBUTING.md")


def test_every_fault_is_there() -> None:
    assert [row[0] for row in PROMISES] == [row[0] for row in TESTS]
    numbers = [int(match[1]) for row in TESTS if (match := re.match(r"(\d+)\. ", row[0]))]
    assert numbers == list(range(1, 29))


def test_every_promise_has_tests_that_exist() -> None:
    missing = []
    for fault, tests in TESTS:
        named = re.findall(r"`([\w/]+)::(test_\w+)`", tests)
        assert named, fault
        for module, name in named:
            tree = ast.parse((HERE / f"{module}.py").read_bytes())
            if name not in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}:
                missing.append(f"{module}::{name}")
    assert not missing
