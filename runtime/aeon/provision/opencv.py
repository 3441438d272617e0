"""OpenCV and simplejpeg, which only the loader needs."""

from functools import cache
from importlib import import_module
from typing import Any, Final

_HINT: Final = "aeon's loader needs {name}: pip install 'exset[provision]'"


@cache
def opencv() -> Any:
    """Return the module cv2, and let it use one thread, as the loader has threads of its own.

    The number of threads is that of the process. Raises ImportError without OpenCV.
    """
    module = _library("cv2", "OpenCV")
    module.setNumThreads(1)
    return module


@cache
def simplejpeg() -> Any:
    """Return the module simplejpeg. Raises ImportError without it."""
    return _library("simplejpeg", "simplejpeg")


def _library(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(_HINT.format(name=name)) from None
