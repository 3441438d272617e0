"""The rules of the house: which module may import which, what import costs, what is documented."""

import ast
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import exset

ROOT = Path(__file__).parent.parent
FOLDERS = ("grammars", "parsers", "codecs", "runtime")
HEAVY = {"numpy", "numba", "h5py", "lark", "construct", "interegular", "rich", "ruamel"}
PLAIN = {"exset.source", "exset.errors", "exset.limits", "exset.files", "exset.cache"}
GROUND = {*PLAIN, "exset.kernels"}


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by name, found through the folders and not through the links."""
    found = {}
    for folder in ("exset", *FOLDERS):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if folder == "exset" and len(parts) > 1 and parts[1] in FOLDERS:
                continue
            name = ".".join(parts if folder == "exset" else ("exset", *parts))
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_bytes())


def imports(name: str) -> Iterator[tuple[str, int]]:
    """What a module imports, at any depth of its code, and on which line."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{modules()[name]}:{node.lineno}: a relative import"
            base = node.module or ""
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield (whole if whole in modules() else base), node.lineno


def layer(name: str) -> int:
    if name in GROUND:
        return 0
    part = name.split(".")[1] if "." in name else ""
    return {"grammars": 1, "parsers": 2, "codecs": 2, "runtime": 3}.get(part, 4)


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
def test_nothing_is_executed(name: str) -> None:
    """No module can start a program, load a pickle or run text as code."""
    forbidden = {"subprocess", "pickle", "marshal", "shelve", "pty", "socket"}
    assert not {other.split(".")[0] for other, _ in imports(name)} & forbidden
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"eval", "exec", "compile", "__import__"}, f"{name}: {called}"
            assert called not in {"os.system", "os.popen"}, f"{name}: {called}"
            assert not called.startswith(("os.exec", "os.spawn", "os.posix_spawn"))


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for names in extras for name in names)]
    declared = {re.split(r"[^\w.-]", name)[0] for name in wanted}
    for name in modules():
        for other, line in imports(name):
            top = other.split(".")[0]
            if top == "_typeshed" or top == "exset" or top in sys.stdlib_module_names:
                continue
            assert {"ruamel": "ruamel.yaml"}.get(top, top) in declared, f"{name}:{line}: {other}"
            optional = top not in " ".join(project["dependencies"])
            assert not optional or name.startswith("exset.testing"), f"{name}:{line}: {other}"


def test_every_package_is_listed() -> None:
    """The build takes the packages that pyproject.toml lists, and no others."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    packages = {
        name if path.stem == "__init__" else name.rpartition(".")[0]
        for name, path in modules().items()
    }
    assert packages == set(listed)


def loaded(code: str) -> set[str]:
    """Which modules are loaded after some code ran in a new interpreter."""
    report = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    script = f"import atexit\natexit.register(lambda: exec({report!r}))\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_is_light() -> None:
    assert not loaded("import exset; exset.__version__, dir(exset)") & HEAVY


def test_version_is_light() -> None:
    code = "import sys; sys.argv = ['exset', '--version']\nfrom exset.cli import main\nmain()"
    assert not loaded(code) & HEAVY


def test_the_ground_is_the_standard_library() -> None:
    for name in sorted(PLAIN & set(modules())):
        for other, line in imports(name):
            top = other.split(".")[0]
            known = top in sys.stdlib_module_names or other in PLAIN or top == "_typeshed"
            assert known, f"{name}:{line}: {other}"


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


@pytest.mark.parametrize("name", sorted(modules()))
def test_no_file_is_too_long(name: str) -> None:
    assert len(modules()[name].read_text().splitlines()) <= 400
