"""Convert dataclasses, collections, findings and errors to JSON and back, by their types.

The caller names the types, and the data must fit these types: a file cannot choose a class.
"""

import errno
import os
import types
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from exset.core.errors import Finding, Findings, FormatError, LimitError
from exset.core.outcome import Item, Outcome, outcome_of
from exset.core.text import Advice


def to_json(value: object) -> object:
    """Return a value as JSON; `from_json` with the value's type is the inverse.

    Raises TypeError for a value that cannot be stored as JSON.
    """
    if isinstance(value, Advice):
        return {"python": str(value), "command": value.command}
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, Findings):
        counts = {each.code: value.count(each.code) for each in value}
        return {"kept": [*map(to_json, value)], "counts": counts, "stopped": value.stopped}
    if is_dataclass(value):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: to_json(each) for key, each in value.items()}
        return [[to_json(key), to_json(each)] for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [*map(to_json, value)]
    raise TypeError(f"a journal cannot hold {type(value).__name__}")


def from_json(kind: Any, data: Any) -> Any:
    """Return the value of the type `kind` that `to_json` has converted to `data`.

    Raises TypeError, ValueError, KeyError or AttributeError for data of another type.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        [kind] = [each for each in arguments if each is not types.NoneType]
        return from_json(kind, data)
    if kind is object or kind is Any or origin is Literal:
        return data
    if kind is str:
        return Advice.both(data["python"], data["command"]) if isinstance(data, dict) else str(data)
    if kind is bytes:
        return b64decode(data)
    if kind is Findings:
        return _findings(data)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: from_json(hints[name], each) for name, each in data.items()})
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple(from_json(*pair) for pair in zip(arguments, data, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        pairs = data.items() if isinstance(data, Mapping) else data
        return {from_json(arguments[0], key): from_json(arguments[1], each) for key, each in pairs}
    if origin is not None and issubclass(origin, Sequence):
        made = [from_json(arguments[0], each) for each in data]
        return tuple(made) if origin is tuple else made
    return kind(data)


def outcome_to_json(outcome: Outcome[Item, Any]) -> dict[str, object]:
    """Return an outcome as JSON: its value or its error, without the file."""
    error = outcome.error
    if error is None:
        return {"value": to_json(outcome.value)}
    if isinstance(error, FormatError):
        is_limit = isinstance(error, LimitError)
        return {"limit" if is_limit else "invalid": to_json(error.findings)}
    name = None if error.filename is None else os.fsdecode(error.filename)
    return {"system": [error.errno, to_json(error.strerror or str(error)), name]}


def outcome_from_json(item: Item, kind: object, data: Mapping[str, Any]) -> Outcome[Item, Any]:
    """Return the outcome that `outcome_to_json` has converted to `data`.

    item: the file of the outcome. kind: the type of its value. Raises the same errors as
    `from_json`.
    """
    if "value" in data:
        return Outcome(item, from_json(kind, data["value"]))
    if "system" in data:
        code, why, name = data["system"]
        words = (code if isinstance(code, int) else errno.EIO, from_json(str, why))

        def fail() -> None:
            raise OSError(*words, *(() if name is None else (name,)))

        return outcome_of(item, fail)
    made = LimitError if "limit" in data else FormatError
    first, *others = _findings(data["limit" if "limit" in data else "invalid"])
    later = Findings()
    for each in others:
        later.add(each)
    return Outcome(item, error=made.of(first, later))


def _findings(data: Mapping[str, Any]) -> Findings:
    findings = Findings()
    kept = [from_json(Finding, each) for each in data["kept"]]
    findings.add_counted(kept, {code: int(count) for code, count in data["counts"].items()})
    findings.stopped = bool(data["stopped"])
    return findings


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
