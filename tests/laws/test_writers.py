"""exset writes files in a few modules only; tests of write failures cover each of them."""

import ast
from collections.abc import Iterator

import pytest

from tests.house import modules, tree

WRITERS = {
    "exset.io.files": "writes pipes and devices as they are",
    "exset.io.atomic_write": "the writer: test_faults::test_every_format and others",
    "exset.io.folders": "test_faults::test_a_folder",
    "exset.io.remote": "a temporary file: test_remote::test_failure_leaves_the_old_file",
    "exset.io.extraction": "test_faults::test_extraction",
    "exset.core.disk_cache": "test_faults::test_disk_cache",
    "exset.core.background": "an empty file to lock",
    "exset.core.journal": "a journal: test_faults::test_a_journal",
    "exset.runtime.aeon.cache_lock": "test_faults::test_a_cache",
    "exset.io.together": "several files: test_faults::test_every_format",
    "exset.runtime.lbann.list_repack": "test_list_repack::test_nothing_is_left_after_an_error",
    "exset.runtime.tables.hdf5": "a temporary file, or one in memory",
    "exset.runtime.tables.npz_write": "a temporary file, or one in memory",
    "exset.cli.main_group": "the null device",
}
PUTS = {
    *("write_bytes", "write_text", "tofile", "savetxt", "mkstemp", "NamedTemporaryFile"),
    *("shutil.copy", "shutil.copyfile", "shutil.move"),
}


def writes(code: ast.Module) -> Iterator[int]:
    """Yield the lines that open a file for writing, or write a file by its name."""
    for node in ast.walk(code):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        name = called.rpartition(".")[2]
        if called in ("os.open", "os.fdopen"):
            found = "O_RDONLY" not in ast.unparse(node)
        elif name in ("open", "open_named", "File", "memmap"):
            words = [*node.args[1:2], *node.args[:1], *(each.value for each in node.keywords)]
            constants = [each.value for each in words if isinstance(each, ast.Constant)]
            modes = [{*each} for each in constants if isinstance(each, str)]
            found = any(mode <= {*"rwxabt+"} and mode & {*"wxa+"} for mode in modes)
        else:
            found = bool({called, name} & PUTS)
        if found:
            yield node.lineno


MODULES = sorted(name for name in modules() if not name.startswith("exset.testing"))


def test_modules_that_write() -> None:
    lines = {name: list(writes(tree(name))) for name in MODULES}
    found = {name: numbers for name, numbers in lines.items() if numbers}
    assert found.keys() == WRITERS.keys(), found


@pytest.mark.parametrize(
    "code",
    [
        *("open('x', 'w')", "open(x, mode='ab')", "path.open('x', 'r+b')", "h5py.File(x, 'w')"),
        *("os.open(x, os.O_WRONLY | os.O_CREAT)", "os.fdopen(x, 'wb')", "path.write_bytes(b'')"),
        *("shutil.copy(x, y)", "tempfile.mkstemp()", "array.tofile(x)"),
    ],
)
def test_writing_calls_are_found(code: str) -> None:
    assert list(writes(ast.parse(code)))


@pytest.mark.parametrize("code", ["open(x)", "open(x, 'rb')", "open(x, encoding='ascii')"])
def test_reading_calls_are_ignored(code: str) -> None:
    assert not list(writes(ast.parse(code)))
