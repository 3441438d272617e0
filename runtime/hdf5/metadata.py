"""The metadata of a table in an HDF5 file: a JSON object in the attribute `exset` of the root."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from h5py import h5a, h5t

from exset.runtime.hdf5.file import File

KEY: Final = "exset"
_LONGEST: Final = 32_000
"""The most bytes that exset writes into one attribute; HDF5 allows 64 KiB."""
STORED: Final = "hdf5"
"""The key for data that only this format needs: an object with the keys below."""
DTYPES: Final = "dtypes"
"""The key of the dtypes that HDF5 lacks, such as those of dates, by the name of the array."""
NAMES: Final = "names"
"""The key of the names that HDF5 does not allow, by the name that is used instead."""
DEPTH: Final = "depth"
"""The key of the number of names in the path of a group, in a file with a group for each row."""
HAS_IDS: Final = "ids"
"""The key of the flag whether the paths of the groups are the column `id`."""


def write_metadata(file: Any, metadata: Mapping[str, Any]) -> None:
    """Write the metadata of a table into an open file of h5py.

    The metadata become text of fixed length, because the library may hang on damaged text of
    variable length. Text that is too long for one attribute continues in `exset_1` and so on.
    """
    text = json.dumps(metadata, separators=(",", ":")).encode()
    for number, at in enumerate(range(0, len(text), _LONGEST)):
        file.attrs[_name(number)] = np.bytes_(text[at : at + _LONGEST])


def read_metadata(file: File) -> dict[str, Any]:
    """Return the metadata in a file. Return {} if the file has no metadata, or damaged metadata."""
    text, root = b"", file.find("")
    with file.guarded("/"):
        while h5a.exists(root, name := _name(len(text) // _LONGEST).encode()):
            found = h5a.open(root, name)
            kind, rank = found.get_type(), len(found.shape)
            is_fixed = kind.get_class() == h5t.STRING and not kind.is_variable_str()
            if rank or not is_fixed or kind.get_size() > _LONGEST:
                return {}
            part = np.empty((), f"S{kind.get_size()}")
            found.read(part)
            text += part.tobytes()
            if kind.get_size() < _LONGEST:
                break
    try:
        stored = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _name(number: int) -> str:
    """Return the name of the attribute that stores the part `number` of the metadata."""
    return KEY if not number else f"{KEY}_{number}"


def _finite(text: str) -> float:
    """Convert the text of a JSON number to a float.

    Raises ValueError for NaN and infinity, which JSON does not have.
    """
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number
