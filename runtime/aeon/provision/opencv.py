"""OpenCV and simplejpeg, which only the loader needs."""

import os
from functools import cache
from importlib import import_module
from typing import Any, Final

_HINT: Final = "aeon's loader needs {name}: pip install 'exset[provision]'"


@cache
def opencv() -> Any:
    """Return the module cv2, after two settings that hold for the process.

    It uses one thread, as the loader has threads of its own. It does not log on standard error
    what is wrong with a picture, which the loader reports, unless OPENCV_LOG_LEVEL is set. Raises
    ImportError without OpenCV.
    """
    module = _library("cv2", "OpenCV")
    module.setNumThreads(1)
    if "OPENCV_LOG_LEVEL" not in os.environ:
        module.utils.logging.setLogLevel(module.utils.logging.LOG_LEVEL_SILENT)
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
