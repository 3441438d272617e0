import io
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

# HYPOTHESIS_PROFILE chooses: dev tries new cases each time, ci the same ones, nightly many.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files made by others, which EXSET_CORPUS names; it is no part of exset."""
    folder = os.environ.get("EXSET_CORPUS")
    if not folder:
        pytest.skip("EXSET_CORPUS does not name the folder of real files")
    return Path(folder)


@pytest.fixture(scope="session")
def stdin() -> Callable[[bytes], SimpleNamespace]:
    """What makes something that stands for sys.stdin, with these bytes to read."""
    return lambda data: SimpleNamespace(buffer=io.BytesIO(data))


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """The optional torch, which .ci/run installs."""
    found: ModuleType = pytest.importorskip("torch", reason="the extra torch is not installed")
    return found
