"""The rules of the house: which module may import which, what is documented, how long files are."""

import ast
import inspect
import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import exset
from tests.house import FOLDERS, ROOT, imports, modules, tree


def layer(name: str) -> int:
    part = name.split(".")[1] if "." in name else ""
    layers = {"core": 0, "io": 0, "grammars": 1, "parsers": 2, "codecs": 2, "runtime": 3}
    return layers.get(part, 4)


def public() -> list[str]:
    return sorted(name for name in modules() if not re.search(r"\._(?!_)", name))


def test_every_folder_is_seen() -> None:
    seen = {name.split(".")[1] for name in modules() if name.count(".") > 1}
    assert {*FOLDERS} <= seen
    assert len(modules()) > 20


def test_codecs_has_no_init() -> None:
    """With one, a checkout on the path would shadow the standard library's codecs."""
    assert not (ROOT / "codecs" / "__init__.py").exists()
    import codecs

    assert not Path(inspect.getfile(codecs)).is_relative_to(ROOT)


def test_the_links() -> None:
    for folder in FOLDERS:
        link = ROOT / "exset" / folder
        assert link.is_symlink() and link.readlink() == Path("..") / folder


def test_no_module_imports_upward() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name} imports {other}"
        for name, path in modules().items()
        for other, line in imports(name)
        if other.split(".")[0] == "exset" and layer(other) > layer(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_circle() -> None:
    graph = {
        name: {other for other, _ in imports(name) if other in modules() and other != name}
        for name in modules()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_parsers_and_codecs_are_siblings() -> None:
    siblings = {"parsers": "exset.codecs.", "codecs": "exset.parsers."}
    wrong = [
        f"{name}:{line} imports {other}"
        for name in modules()
        for other, line in imports(name)
        if f"{other}.".startswith(siblings.get(name.partition(".")[2].partition(".")[0], "none"))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_build_finds_every_package() -> None:
    """setuptools follows the links, and needs no `__init__.py`."""
    setuptools = pytest.importorskip("setuptools", reason="setuptools builds the package")
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = set(setuptools.find_namespace_packages(str(ROOT), **options["find"]))
    packages = {
        name if path.stem == "__init__" else name.rpartition(".")[0]
        for name, path in modules().items()
    }
    assert packages - {"exset.codecs"} <= found
    assert not found - packages - {"exset.codecs"}


SHARED = {
    *("columns", "custom", "engine", "hdf5", "pictures", "reports", "shared", "tables", "training"),
}


def room(name: str) -> str:
    """The folder of a module inside its layer: a family, a shared folder, or none."""
    parts = name.split(".")
    return parts[2] if len(parts) > 3 and parts[1] in FOLDERS else ""


def test_no_family_imports_another() -> None:
    wrong = []
    for name in modules():
        for other, line in imports(name):
            own, target = room(name), room(other)
            is_foreign = target not in SHARED and target not in ("", own)
            if own and is_foreign:
                wrong.append(f"{name}:{line} imports {other}")
    assert not wrong, "\n".join(wrong)


def test_public_names() -> None:
    for name in exset.__all__:
        value = getattr(exset, name)
        assert name.isupper() or name == "__version__" or inspect.getdoc(value), name
    assert set(exset.__all__) <= set(dir(exset))
    with pytest.raises(AttributeError, match="nothing"):
        _ = exset.nothing  # type: ignore[attr-defined]


def test_lazy_names_and_typed_names_agree() -> None:
    """Type checkers see the names that are loaded."""
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree("exset"))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("exset")
        for alias in node.names
    }
    assert seen | {"__version__"} == set(exset.__all__)


def test_every_public_name_has_a_docstring() -> None:
    bare = [f"{name}: the module" for name in public() if not ast.get_docstring(tree(name))]
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

    def look(body: list[ast.stmt], path: str) -> None:
        for node in body:
            if not isinstance(node, kinds) or node.name.startswith("_"):
                continue
            decorators = {ast.unparse(each).split("(")[0] for each in node.decorator_list}
            if not ast.get_docstring(node) and not decorators & {"overload", "typing.overload"}:
                bare.append(f"{path}.{node.name}")
            if isinstance(node, ast.ClassDef):
                look(node.body, f"{path}.{node.name}")

    for name in public():
        look(tree(name).body, name)
    assert not bare, "\n".join(bare)


def test_no_file_is_too_long() -> None:
    others = [path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in (*modules().values(), *others)
    }
    assert not {path: length for path, length in lengths.items() if length > 400}
