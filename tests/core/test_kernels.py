"""When kernels are loaded and compiled, and that files and processes in the way only cost time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from exset.core import background, disk_cache, kernels, native
from exset.core.kernels import FAILED, Kernels
from tests.core.test_disk_cache import break_file

pytest.importorskip("numba")

SOURCE = """
import numpy as np
from numpy.typing import NDArray
from exset.core.kernels import entry_kernel
from {inner} import weight

@entry_kernel
def added(values: NDArray[np.int64]) -> int:
    total = 0
    for k in range(len(values)):
        total += values[k] * weight()
    return total
"""
INNER = """
from exset.core.kernels import kernel

@kernel
def weight() -> int:
    return {weight}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a path to import from."""
    monkeypatch.setenv(disk_cache.ENVIRONMENT, str(tmp_path / "cache"))
    monkeypatch.setenv(background.ENVIRONMENT, "now")
    monkeypatch.setattr(background, "_started", [])
    monkeypatch.setattr(kernels, "GROUPS", [])
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def group(folder: Path, name: str, weight: int = 1) -> Kernels:
    """Return a group of two modules with these names, as if they were just installed."""
    (folder / f"{name}_inner.py").write_text(INNER.format(weight=weight))
    (folder / f"{name}.py").write_text(SOURCE.format(inner=f"{name}_inner"))
    for module in (name, f"{name}_inner"):
        sys.modules.pop(module, None)
    kernels.GROUPS.clear()
    return Kernels(f"{name}_inner", name, load_from=10, compile_from=100)


def total(made: Kernels) -> int:
    added = __import__(made.modules[-1]).added
    result: int = made.choose(added, made.use_compiled(1000))(np.arange(5))
    return result


def test_now_waits(folder: Path) -> None:
    made = group(folder, "now_kernels")
    assert not made.use_compiled(9) and not made.is_loaded
    assert not made.use_compiled(99), "too small to compile"
    assert made.use_compiled(100) and made.is_loaded
    assert not made.use_compiled(9) and made.use_compiled(9, "table")
    assert not made.use_compiled(1000, "reference")
    assert total(made) == 10
    assert group(folder, "now_kernels").use_compiled(10), "from the cache"


def test_off_compiles_nothing_but_loads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(background.ENVIRONMENT, "off")
    made = group(folder, "off_kernels")
    assert not made.use_compiled(1000) and total(made) == 10
    assert not (folder / "cache").exists()
    background.run([",".join(made.modules)])
    assert made.use_compiled(10)


def test_in_the_background(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(background.ENVIRONMENT, "background")
    monkeypatch.setattr("exset.compiler.declared._PACKAGES", ())
    made = group(folder, "late_kernels")
    assert not made.use_compiled(1000), "nobody waits"
    [process] = background._started
    assert not made.use_compiled(1000) and len(background._started) == 1
    wait_for(made)
    assert made.use_compiled(1000) and total(made) == 10, "it changes over"
    process.kill()
    process.wait()


def wait_for(made: Kernels) -> None:
    deadline = time.monotonic() + 100
    while disk_cache.load(made.name) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_killed_process_leaves_nothing_broken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(background.ENVIRONMENT, "background")
    made = group(folder, "killed_kernels")
    assert not made.use_compiled(1000)
    [process] = background._started
    while background_is_free():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert background_is_free()
    assert total(made) == 10
    monkeypatch.setenv(background.ENVIRONMENT, "now")
    assert made.use_compiled(1000) and total(made) == 10


def background_is_free() -> bool:
    handle = background.try_lock()
    if handle is not None:
        os.close(handle)
    return handle is not None


def test_one_process_compiles_at_a_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(background.ENVIRONMENT, "background")
    made = group(folder, "single_kernels")
    handle = background.try_lock()
    assert handle is not None and background.try_lock() is None
    assert not made.use_compiled(1000) and not background._started
    started = background._start("--background", ",".join(made.modules))
    assert started.wait(100) == 0 and disk_cache.load(made.name) is None, "it left at once"
    waiting = background._start(",".join(made.modules))
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(1)
    os.close(handle)
    assert waiting.wait(100) == 0 and made.use_compiled(10)


def test_a_changed_source_makes_objects_stale(folder: Path) -> None:
    made = group(folder, "edited_kernels")
    assert total(made) == 10
    edited = group(folder, "edited_kernels", weight=3)
    assert edited.name != made.name and not edited.use_compiled(10)
    assert total(edited) == 30 and edited.is_loaded


@pytest.mark.parametrize("damage", ["empty", "truncated", "garbage", "changed"])
def test_a_damaged_object_is_compiled_again(folder: Path, damage: str) -> None:
    assert total(group(folder, "damaged_kernels")) == 10
    made = group(folder, "damaged_kernels")
    break_file(folder / "cache" / made.name, damage)
    assert not made.use_compiled(10)
    assert total(made) == 10 and made.is_loaded


def test_the_package_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = group(folder, "packaged_kernels")
    assert total(made) == 10
    monkeypatch.setattr(disk_cache, "PACKAGE", str(folder / "cache"))
    monkeypatch.setenv(disk_cache.ENVIRONMENT, str(folder / "empty"))
    found = disk_cache.find(made.name)
    assert found and found[0] == "package"
    assert group(folder, "packaged_kernels").use_compiled(10)


def test_what_cannot_be_compiled_is_not_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = group(folder, "broken_kernels")
    (folder / "broken_kernels.py").write_text(
        SOURCE.format(inner="broken_kernels_inner").replace("int64", "complex128")
    )
    assert total(made) == 10 and not made.is_loaded
    assert made.failure() and disk_cache.load(made.name + FAILED)
    monkeypatch.setattr(background, "compile_kernels", lambda groups: pytest.fail("tried again"))
    assert not made.use_compiled(1000)


@pytest.mark.parametrize("missing", ["numba", "llvmlite", "both"])
def test_without_the_libraries(
    folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str, caplog: pytest.LogCaptureFixture
) -> None:
    """All runs as plain Python, and nothing is said about it."""
    if missing != "llvmlite":
        monkeypatch.setattr(background, "find_spec", lambda name: None)
    if missing != "numba":
        monkeypatch.setattr(native, "link", lambda data: __import__("no_llvmlite"))
    made = group(folder, "lonely_kernels")
    assert total(made) == 10 and not made.is_loaded
    assert not caplog.records


def test_a_cache_that_cannot_be_made(folder: Path) -> None:
    (folder / "cache").write_bytes(b"a file where the folder would be")
    made = group(folder, "homeless_kernels")
    assert total(made) == 10 and not made.is_loaded
