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


@pytest.mark.parametrize("name", sorted(modules()))
def test_no_module_imports_upward(name: str) -> None:
    wrong = [
        f"{modules()[name].relative_to(ROOT)}:{line}: {name} imports {other}"
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


@pytest.mark.parametrize("name", sorted(modules()))
def test_parsers_and_codecs_are_siblings(name: str) -> None:
    part = name.split(".")[1] if "." in name else ""
    sibling = {"parsers": "exset.codecs", "codecs": "exset.parsers"}.get(part, "nothing")
    wrong = [f"{name}:{line}" for other, line in imports(name) if f"{other}.".startswith(sibling)]
    assert not wrong


def test_every_package_is_listed() -> None:
    """The build takes the packages that pyproject.toml lists, and no others."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    packages = {
        name if path.stem == "__init__" else name.rpartition(".")[0]
        for name, path in modules().items()
    }
    assert packages == set(listed)


def test_public_names() -> None:
    for name in exset.__all__:
        value = getattr(exset, name)
        assert name.isupper() or name == "__version__" or inspect.getdoc(value), name
    assert set(exset.__all__) <= set(dir(exset))
    with pytest.raises(AttributeError, match="nothing"):
        _ = exset.nothing  # type: ignore[attr-defined]


def test_lazy_names_and_typed_names_agree() -> None:
    """What type checkers see is what is loaded."""
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree("exset"))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("exset")
        for alias in node.names
    }
    assert seen | {"__version__"} == set(exset.__all__)


@pytest.mark.parametrize("name", public())
def test_every_public_name_has_a_docstring(name: str) -> None:
    bare = [] if ast.get_docstring(tree(name)) else [f"{name}: the module"]
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

    look(tree(name).body, name)
    assert not bare, "\n".join(bare)


def test_no_file_is_too_long() -> None:
    others = [path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    for path in (*modules().values(), *others):
        assert len(path.read_text().splitlines()) <= 400, path.relative_to(ROOT)
