import io
import math
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from exset.core import background, supervisor
from exset.core.kernels import Engine, Kernels
from exset.grammars.aeon.config import outputs, schema
from exset.parsers.engine import driver
from exset.runtime.aeon.provision import registry
from tests.training import portable

# HYPOTHESIS_PROFILE chooses: dev tries new cases each time, ci the same ones, nightly many.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=25,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

assert portable.PORTABLE  # makes "portable" a device

os.environ.setdefault(background.ENVIRONMENT, "off")  # nothing compiles while tests run
# Patches of tests do not reach other processes.
os.environ.setdefault(supervisor.ENVIRONMENT, "off")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels for all tests, before the workers of pytest-xdist start."""
    if not hasattr(session.config, "workerinput"):
        background.run()


_SKIPPED = "exset/skipped"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run only the tests that the last run without this option skipped"
    parser.addoption("--skipped", action="store_true", help=text)


class Skips:
    """The tests and files that a run skips, which `--skipped` runs later."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.names.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.names.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if (cache := getattr(self.config, "cache", None)) is not None:  # `-p no:cacheprovider`
            cache.set(_SKIPPED, self.names)


def pytest_configure(config: pytest.Config) -> None:
    """Note what a run skips, once for all workers of pytest-xdist."""
    if not hasattr(config, "workerinput") and not config.getoption("--skipped"):
        config.pluginmanager.register(Skips(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests of formats that need an optional library which is not installed."""
    if config.getoption("--skipped") and (cache := getattr(config, "cache", None)) is not None:
        names = set(cache.get(_SKIPPED, []))
        items[:] = [each for each in items if names & _names(each.nodeid)]
    for item in items:
        for each in getattr(getattr(item, "callspec", None), "params", {}).values():
            library = getattr(each, "needs", None)
            if isinstance(library, str) and find_spec(library) is None:
                item.add_marker(pytest.mark.skip(f"{library} is not installed"))


def _names(test: str) -> set[str]:
    """Return the names under which a run may have noted that it skips a test.

    A file is skipped as a whole, and a test without parameters as `NOTSET`.
    """
    return {test, test.split("::")[0], f"{test.partition('[')[0]}[NOTSET]"}


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files made by others, which EXSET_CORPUS names; it is no part of exset."""
    folder = os.environ.get("EXSET_CORPUS")
    if not folder:
        pytest.skip("EXSET_CORPUS does not name the folder of real files")
    return Path(folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is empty, and the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pipe(folder: Path) -> Callable[[str], str]:
    """Return a function that makes a pipe of that name in the folder."""

    def made(name: str) -> str:
        os.mkfifo(name)
        return name

    return made


@pytest.fixture
def etl_types() -> Iterator[None]:
    """Forget the etl types that a test registers when it ends."""
    with (
        patch.dict(schema.ETL),
        patch.dict(schema.TABLES),
        patch.dict(outputs._SHAPES),
        patch.dict(registry._REGISTERED),
    ):
        yield


@pytest.fixture(scope="session")
def stdin() -> Callable[[bytes], SimpleNamespace]:
    """Return a function that makes a substitute for sys.stdin with these bytes."""
    return lambda data: SimpleNamespace(buffer=io.BytesIO(data))


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """The optional torch, which .ci/run installs."""
    found: ModuleType = pytest.importorskip("torch", reason="the extra torch is not installed")
    return found


LARGEST = {"reference": 30_000, "plain": 200_000}
"""Bytes of the largest real file that each engine reads in the tests; compiled kernels read all."""


@pytest.fixture
def largest(request: pytest.FixtureRequest) -> float:
    """Return the size of the largest real file to read with the test's `engine`."""
    return LARGEST.get(request.node.callspec.params["engine"], math.inf)


@pytest.fixture(params=["reference", "plain", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Each engine, and both ways of running the kernels of the table engine."""
    if request.param == "reference":
        return "reference"
    if request.param == "plain":
        monkeypatch.setattr(Kernels, "use_compiled", lambda *_: False)
    elif not driver.KERNELS.use_compiled(0, "table"):
        pytest.skip("no compiled kernels")
    return "table"
