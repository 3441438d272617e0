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
PLAIN = {
    *("exset.source", "exset.errors", "exset.limits", "exset.files"),
    *("exset.compression", "exset.cache", "exset.sniff", "exset.extract", "exset.voice"),
    *("exset.wording", "exset.remote", "exset.replacing"),
}
STANDARD = {*sys.stdlib_module_names, "compression"}  # this one from Python 3.14 on
GROUND = {*PLAIN, "exset.access", "exset.protocols", "exset.kernels", "exset.jobs", "exset.pools"}


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
def test_parsers_and_codecs_are_siblings(name: str) -> None:
    part = name.split(".")[1] if "." in name else ""
    sibling = {"parsers": "exset.codecs", "codecs": "exset.parsers"}.get(part, "nothing")
    wrong = [f"{name}:{line}" for other, line in imports(name) if f"{other}.".startswith(sibling)]
    assert not wrong


EXECUTING = {
    *("asyncio", "code", "codeop", "ctypes", "marshal", "pickle", "pty", "runpy", "shelve"),
    *("socket", "subprocess", "multiprocessing", "concurrent"),
}
MAY_IMPORT = {
    "exset.jobs": {"concurrent"},
    "exset.pools": {"multiprocessing", "concurrent"},
}
RUNS = re.compile(
    r"eval|exec|compile|__import__|os\.(\*|system|popen|startfile|fork\w*|(posix_)?(exec|spawn)\w*)"
)


def names_in(code: ast.Module) -> dict[str, str]:
    """What the names that a module imports stand for, in full."""
    known = {}
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return known


def dangers(name: str, code: ast.Module) -> Iterator[str]:
    """By what a module could start a program, load a pickle or run text as code."""
    forbidden = EXECUTING - MAY_IMPORT.get(name, set())
    known = names_in(code)

    def full(node: ast.expr) -> str:
        root, dot, rest = ast.unparse(node).partition(".")
        return (known.get(root, root) + dot + rest).removeprefix("builtins.")

    for each in known.values():
        if each.split(".")[0] in forbidden or RUNS.fullmatch(each):
            yield each
    for node in ast.walk(code):
        if isinstance(node, ast.Name | ast.Attribute) and RUNS.fullmatch(full(node)):
            yield full(node)
        elif isinstance(node, ast.Call):
            called = full(node.func)
            if called.endswith("import_module") and node.args:
                yield from {ast.unparse(node.args[0]).strip("'").split(".")[0]} & forbidden
            pickles = [each.value for each in node.keywords if each.arg == "allow_pickle"]
            if called == "numpy.load":
                pickles += node.args[2:]
                pickles += [each.value for each in node.keywords if each.arg is None]
            yield from (f"{called}: a pickle" for each in pickles if ast.unparse(each) != "False")


@pytest.mark.parametrize("name", sorted(modules()))
def test_nothing_is_executed(name: str) -> None:
    assert not list(dangers(name, tree(name)))


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')",
        "run = exec",
        "import builtins as b; b.eval('1')",
        "__import__('os')",
        "import os; os.system('ls')",
        "import os as system; system.popen('ls')",
        "from os import system",
        "from os import execvp as go",
        "from os import *",
        "import os; f = os.posix_spawn",
        "import os; os.spawnl(0, 'ls')",
        "import os; os.fork()",
        "import subprocess",
        "from pickle import loads",
        "import runpy",
        "import ctypes.util",
        "from multiprocessing import Pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "from importlib import import_module; import_module('pickle')",
        "import importlib; importlib.import_module('multiprocessing.pool')",
        "import numpy as np; np.load('x', allow_pickle=True)",
        "import numpy as np; np.load('x', allow_pickle=given)",
        "import numpy as np; np.load('x', None, True)",
        "from numpy import load; load('x', **options)",
        "from numpy import save as put; put('x', y, allow_pickle=True)",
    ],
)
def test_what_executes_is_seen(code: str) -> None:
    assert list(dangers("exset.api", ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import re; re.compile('x')",
        "import os; os.path.join('a', **b)",
        "import numpy as np; np.load('x', allow_pickle=False)",
        "from importlib import import_module; import_module('numba')",
        "codec.compile(x); system('ls')",
    ],
)
def test_what_executes_nothing_is_left_alone(code: str) -> None:
    assert not list(dangers("exset.api", ast.parse(code)))
    assert not list(dangers("exset.pools", ast.parse("from multiprocessing import Pool")))


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for names in extras for name in names)]
    declared = {re.split(r"[^\w.-]", name)[0] for name in wanted}
    for name in modules():
        for other, line in imports(name):
            top = other.split(".")[0]
            if top == "_typeshed" or top == "exset" or top in STANDARD:
                continue
            distribution = {"ruamel": "ruamel.yaml", "backports": "backports.zstd"}.get(top, top)
            assert distribution in declared, f"{name}:{line}: {other}"
            optional = top not in " ".join(project["dependencies"])
            may = name.startswith("exset.testing") or top in MAY_BE_THERE.get(name, ())
            assert not optional or may, f"{name}:{line}: {other}"


MAY_BE_THERE = {"exset.compression": ("isal",), "exset.remote": ("fsspec",)}
"""What is imported when it is used, and done without where it is not installed."""

UNIMPORTED = {
    "cupy-cuda12x": "imported by name, as cupy, by exset.runtime.arrays",
    "cupy-cuda13x": "imported by name, as cupy, by exset.runtime.arrays",
    "exset": "the extra dev has what the extra test has",
    "furo": "the theme of the pages",
    "mypy": "a command",
    "myst-parser": "an extension of sphinx",
    "pytest-xdist": "a plugin of pytest",
    "pytorch-metric-learning": "what the benchmarks measure samplers against",
    "ruff": "a command",
    "sphinx": "a command",
    "sphinxcontrib-programoutput": "an extension of sphinx",
}


def test_what_is_declared_is_imported() -> None:
    """Each with a lower bound, too: what was never tried is not promised."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for names in extras for name in names)]
    used = {other.split(".")[0] for name in modules() for other, _ in imports(name)}
    tests = [ast.parse(path.read_bytes()) for path in (ROOT / "tests").glob("*.py")]
    used |= {each.split(".")[0] for code in tests for each in names_in(code).values()}
    for requirement in wanted:
        name = re.split(r"[^\w.-]", requirement)[0]
        module = name.split(".")[0]  # ruamel.yaml is of the package ruamel
        assert name in UNIMPORTED or module in used, f"nothing imports {name}"
        assert ">=" in requirement or name == "exset", f"{name} has no lower bound"


def test_one_module_knows_cupy() -> None:
    """All others take the namespace that they are given."""
    named = {name for name, path in modules().items() if '"cupy"' in path.read_text()}
    assert named == {"exset.runtime.arrays"}
    assert not any(
        other.split(".")[0] == "cupy" for name in modules() for other, _ in imports(name)
    )


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


SLOW = {
    *("concurrent.futures", "decimal", "exset.grammars.build", "hashlib", "importlib.metadata"),
    *("importlib.resources", "logging", "multiprocessing", "numpy.ma", "pathlib", "tempfile"),
}


@pytest.mark.parametrize(
    "words",
    [
        "info exset::xor.ex",
        "info {small}.bex",
        "convert exset::xor.ex -o {small}.bex",
        "convert {small}.bex -o {small}.ex",
    ],
)
def test_a_small_file_is_read_and_written_with_little(words: str, tmp_path: Path) -> None:
    """What these modules cost is felt with each small file.

    Lark and Construct are for a grammar or a layout that is new, a compiler is for large files.
    """
    small = tmp_path / "small"
    exset.save(exset.load("exset::xor.ex"), f"{small}.bex")
    arguments = ["exset", *words.format(small=small).split()]
    code = f"import sys; sys.argv = {arguments}\nfrom exset.cli import main\nmain()"
    loaded(code)
    assert loaded(code) & (SLOW | HEAVY) == {"numpy"}


def test_the_ground_is_the_standard_library() -> None:
    for name in sorted(PLAIN & set(modules())):
        for other, line in imports(name):
            top = other.split(".")[0]
            known = top in STANDARD or other in PLAIN or top == "_typeshed"
            known = known or top in ("backports", *MAY_BE_THERE.get(name, ()))
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


def test_no_file_is_too_long() -> None:
    others = [path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    for path in (*modules().values(), *others):
        assert len(path.read_text().splitlines()) <= 400, path.relative_to(ROOT)
