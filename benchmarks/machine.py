"""Describe the machine of the measurement."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import exset
from exset.core.threads import cores


def description() -> dict[str, str]:
    """Return the processor, cores, load, and versions of the libraries."""
    return {
        "processor": _processor(),
        "cores": str(cores()),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": platform.platform(),
        "Python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "numba", "lark", "construct", "torch")},
        "exset": exset.__version__,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
