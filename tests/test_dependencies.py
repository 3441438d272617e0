"""Dependencies: all are declared, all are used, and few are loaded."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import exset
from tests.house import PLAIN, ROOT, imports, modules, names_in

HEAVY = {"numpy", "numba", "h5py", "lark", "construct", "rich", "ruamel"}
STANDARD = {*sys.stdlib_module_names, "compression"}  # this one from Python 3.14 on


def test_imported_libraries_are_declared() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    extras = project["optional-dependencies"].values()
    required = [
        *settings["build-system"]["requires"],
        *project["dependencies"],
        *(name for names in extras for name in names),
    ]
    declared = {re.split(r"[^\w.-]", name)[0] for name in required}
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


MAY_BE_THERE = {
    "exset.compiler.build": ("setuptools",),
    "exset.executors": ("distributed",),
    "exset.mpi": ("mpi4py",),
    "exset.grammars.tables.arrow_export": ("nanoarrow",),
    "exset.grammars.tables.arrow_import": ("nanoarrow",),
    "exset.grammars.tables.frames": ("pandas", "xarray"),
    "exset.grammars.tables.nanoarrow": ("nanoarrow",),
    "exset.grammars.tables.table": ("pandas", "xarray"),
    "exset.io.compressors": ("isal",),
    "exset.runtime.tables.arrow_chunks": ("pyarrow",),
    "exset.runtime.tables.arrow_files": ("pyarrow",),
    "exset.runtime.tables.arrow_read": ("pyarrow",),
    "exset.runtime.tables.feather": ("pyarrow",),
    "exset.runtime.tables.parquet": ("pyarrow",),
    "exset.io.remote": ("aiohttp", "fsspec"),
    "exset.plotting": ("matplotlib",),
    "exset.reports.page": ("jinja2",),
    **{
        f"exset.runtime.pictures.{name}": ("matplotlib",)
        for name in ("canvas", "charts", "drawing", "grids", "heat", "heat_maps")
    },
}
"""Optional libraries, imported on use; exset works without them."""

UNIMPORTED = {
    "cupy-cuda12x": "imported by name, as cupy, by exset.runtime.arrays",
    "cupy-cuda13x": "imported by name, as cupy, by exset.runtime.arrays",
    "exset": "the extra dev has what the extra test has",
    "furo": "the theme of the pages",
    "kaldi-native-io": "imported by name, as kaldi_native_io, by the benchmarks of archives",
    "mypy": "a command",
    "opencv-python-headless": "imported by name, as cv2, by exset.runtime.aeon.provision.opencv",
    "simplejpeg": "imported by name, by exset.runtime.aeon.provision.opencv",
    "myst-parser": "an extension of sphinx",
    "pytest-xdist": "a plugin of pytest",
    "pytorch-metric-learning": "what the benchmarks measure samplers against",
    "railroad-diagrams": "imported as railroad by docs/declarations.py, an extension of sphinx",
    "ruff": "a command",
    "sphinx": "a command",
    "sphinx-design": "an extension of sphinx",
    "sphinxcontrib-programoutput": "an extension of sphinx",
}


def test_declared_libraries_are_imported() -> None:
    """Each requirement has a lower bound, too: older versions were never tested."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    extras = project["optional-dependencies"].values()
    required = [
        *settings["build-system"]["requires"],
        *project["dependencies"],
        *(name for names in extras for name in names),
    ]
    used = {other.split(".")[0] for name in modules() for other, _ in imports(name)}
    tests = [ast.parse(path.read_bytes()) for path in (ROOT / "tests").rglob("*.py")]
    used |= {each.split(".")[0] for code in tests for each in names_in(code).values()}
    for requirement in required:
        name = re.split(r"[^\w.-]", requirement)[0]
        module = name.split(".")[0]  # ruamel.yaml is of the package ruamel
        assert name in UNIMPORTED or module in used, f"nothing imports {name}"
        assert ">=" in requirement or name == "exset", f"{name} has no lower bound"


def test_one_module_knows_cupy() -> None:
    """All other modules get the namespace as an argument."""
    named = {name for name, path in modules().items() if '"cupy"' in path.read_text()}
    assert named == {"exset.runtime.arrays"}
    assert not any(
        other.split(".")[0] == "cupy" for name in modules() for other, _ in imports(name)
    )


def loaded(code: str) -> set[str]:
    """Return the modules that some code loads in a new interpreter."""
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
    *(
        "concurrent.futures",
        "decimal",
        "exset.grammars.lens.build",
        "hashlib",
        "importlib.metadata",
    ),
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
    """The time for these modules would slow down each small file."""
    small = tmp_path / "small"
    exset.save(exset.load("exset::xor.ex"), f"{small}.bex")
    arguments = ["exset", *words.format(small=small).split()]
    code = f"import sys; sys.argv = {arguments}\nfrom exset.cli import main\nmain()"
    loaded(code)
    assert loaded(code) & (SLOW | HEAVY) == {"numpy"}


def test_core_modules_need_the_standard_library_only() -> None:
    for name in sorted(PLAIN & set(modules())):
        for other, line in imports(name):
            top = other.split(".")[0]
            is_known = top in STANDARD or other in PLAIN or top == "_typeshed"
            is_known = is_known or top in ("backports", *MAY_BE_THERE.get(name, ()))
            assert is_known, f"{name}:{line}: {other}"
