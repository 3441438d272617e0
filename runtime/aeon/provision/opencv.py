"""OpenCV and simplejpeg, which only the loader needs."""

import os
from functools import cache
from importlib import import_module
from typing import Any, Final

_HINT: Final = "aeon's loader needs {name}: pip install 'exset[provision]'"


@cache
def opencv() -> Any:
    """Return the module cv2, and change two of its settings for the whole process.

    OpenCV then uses one thread, because the loader has its own threads. OpenCV also stops logging
    problems of pictures to standard error, because the loader reports them; but it goes on if
    OPENCV_LOG_LEVEL is set. Raises ImportError without OpenCV.
    """
    module = _library("cv2", "OpenCV")
    module.setNumThreads(1)
    if "OPENCV_LOG_LEVEL" not in os.environ:
        module.utils.logging.setLogLevel(module.utils.logging.LOG_LEVEL_SILENT)
    return module


@cache
def simplejpeg() -> Any:
    """Return the module simplejpeg. Raises ImportError if it is not installed."""
    return _library("simplejpeg", "simplejpeg")


def _library(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(_HINT.format(name=name)) from None
