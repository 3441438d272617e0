"""Where exset keeps what it works out once a machine: lowered grammars and compiled kernels.

A missing, broken or unwritable cache only costs time.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

ENVIRONMENT = "EXSET_CACHE"
"""The environment variable that names another folder."""


def folder() -> Path:
    """The folder of the cache, which need not exist: the platform's own place for such things."""
    if named := os.environ.get(ENVIRONMENT):
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "exset"


def load(name: str) -> bytes | None:
    """What was stored under a name, or None."""
    try:
        return (folder() / name).read_bytes()
    except (OSError, RuntimeError):
        return None


def store(name: str, data: bytes) -> bool:
    """Store data under a name, at once and whole, and say whether that was possible."""
    temporary = None
    try:
        target = folder() / name
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, target)
    except (OSError, RuntimeError):
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    return True
