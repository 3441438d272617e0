"""Sidecars: a file `NAME.exset.json` has the metadata that the file `NAME` cannot store."""

import json
import os
from contextlib import suppress
from dataclasses import replace
from typing import Final

from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.io.compression import SUFFIXES
from exset.io.named import open_named

SUFFIX: Final = ".exset.json"


def name_of(path: str) -> str:
    """Return the name of a file's sidecar: a.tar.exset.json for both a.tar and a.tar.gz."""
    bare, suffix = os.path.splitext(path)
    return (bare if suffix in SUFFIXES else path) + SUFFIX


def with_metadata(source: Source, limits: Limits) -> Source:
    """Return the source of a file; if the file has a sidecar, the source has the sidecar's content.

    Raises OSError if the sidecar cannot be read.
    """
    if not source.path or source.sidecar is not None:
        return source
    return replace(source, sidecar=content_of(source.path, limits))


def content_of(path: str, limits: Limits) -> bytes | None:
    """Return the content of a local file's sidecar. Return None if the file has no sidecar.

    Raises OSError if the sidecar cannot be read.
    """
    path = name_of(path)
    if not os.path.isfile(path) or os.path.getsize(path) > limits.max_text:
        return None
    with suppress(FileNotFoundError), open_named(path, "rb") as file:
        return file.read(limits.max_text)
    return None


def is_of(path: str) -> bool:
    """Return whether a local file has a sidecar that states the size of this file.

    If the file is compressed, its size is not compared.
    """
    try:
        size = json.loads(content_of(path, DEFAULT) or b"")["file"]["bytes"]
        is_compressed = os.path.splitext(path)[1] in SUFFIXES
        return is_compressed or bool(size == os.path.getsize(path))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def remove_old(path: str) -> None:
    """Remove the sidecar of an older file `path`, unless another file may need this sidecar.

    For example, NAME and NAME.gz have the same sidecar. If the sidecar cannot be removed, readers
    still see that it does not belong to the new file.
    """
    sidecar = name_of(path)
    if not os.path.isfile(sidecar):
        return
    folder, own = os.path.split(sidecar)
    with suppress(OSError):
        others = set(os.listdir(folder or os.curdir)) - {own, os.path.basename(path)}
        if not any(name_of(name) == own for name in others):
            os.unlink(sidecar)
