"""Every code that exset gives is explained, in one table, of which the page is made."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from exset import formats
from exset.core.errors import FormatError, LimitError
from exset.explain import codes, explain
from exset.grammars.lbann.schema import DIRECTIVES
from exset.parsers.lens.steps import Note
from exset.testing.conformance.meanings import FAMILIES as MEANINGS
from tests.cli.command_line import run
from tests.findings import FOLDER, LIST, listed, pages
from tests.house import modules, tree

FAMILIES = {
    code.partition("-")[0] for code in codes() if explain(code).family != explain("limit").family
}
CODE = re.compile(rf"({'|'.join(FAMILIES)})-[a-z0-9]+(-[a-z0-9]+)*")
NO_CODES = {*formats.names(), *(family.name for family in formats.families()), *MEANINGS}


def declared() -> Iterator[str]:
    """Yield every code in the source: texts like codes, `code=`, the first of `finding_at`."""
    for name in modules():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if CODE.fullmatch(node.value):
                    yield node.value
            elif isinstance(node, ast.Call):
                named = [word.value for word in node.keywords if word.arg == "code"]
                if isinstance(node.func, ast.Name) and node.func.id == "finding_at":
                    named += node.args[:1]
                for each in named:
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield each.value


def test_every_code_is_explained_and_no_other() -> None:
    made = {f"schema-{name}" for name in DIRECTIVES} | {note.code for note in Note}
    errors = {FormatError.default_code, LimitError.default_code, "system"}
    assert {*declared(), *made, *errors} - (NO_CODES - set(codes())) == set(codes())
    assert len(set(codes())) == len(codes())


def test_every_explanation_is_complete() -> None:
    for code in codes():
        found = explain(code)
        assert set(found.severity.split(" or ")) <= {"error", "warning", "note"}, code
        assert all(len(text) > 5 for text in (found.means, found.matters, found.fix)), code
        assert found.family and found.code == code


def test_the_pages_are_up_to_date() -> None:
    """If not: python -m tests.findings"""
    assert {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()} == pages()
    assert LIST.read_text("utf-8") == listed(LIST.read_text("utf-8"))


def test_explain() -> None:
    assert run("explain", "lens-bare-word").stdout.startswith("lens-bare-word: warning\n  A word")
    assert len(run("explain").stdout.splitlines()) == len(codes())
    assert run("explain", "aeon-file-*").stdout.count(": error\n") == 6
    assert run("explain", "--json", "limit").stdout.startswith('{"schema": 1, "ok": true,')
    result = run("explain", "lens-bare-wrod")
    assert result.exit_code == 2 and "lens-bare-word" in result.stderr


def test_validate_explains_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "warn.ex"
    path.write_bytes(b"[max:] I:2;\n[max:] I:2;\n")
    said = run("validate", "-v", str(path)).stdout
    assert said.count("lens-missing-value: warning") == 1
    assert "lens-missing-value: warning" not in run("validate", str(path)).stdout
