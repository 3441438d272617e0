"""Sources that caches are named after: as they are, and as a later version would have them."""

from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

from exset.core import disk_cache


def source_of(module: str) -> bytes:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).read_bytes()


def edit(module: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have caches find another version of a module, which is put into the folder."""
    edited = folder / "edited.py"
    edited.write_bytes(source_of(module) + b"\n# as a later version has it\n")

    def found(name: str) -> ModuleSpec | None:
        if name == module:
            return ModuleSpec(name, None, origin=str(edited))
        return find_spec(name)

    monkeypatch.setattr(disk_cache, "find_spec", found)
