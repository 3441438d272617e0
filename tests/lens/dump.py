"""What Lens had in memory, as its dumps say it, and the same of an example set.

Both become the same nested plain Python: strings as text, reals as the bits of float32 (any NaN the
quiet one), range lists once each with the events' numbers of them, so that sharing is compared too.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from exset.grammars.lens.columns import REAL_FIELDS, TIME_FIELDS
from exset.grammars.lens.examples import ExampleSet

Plain = dict[str, Any]

_WORDS = (
    "maxTime",
    "minTime",
    "graceTime",
    "defaultInput",
    "activeInput",
    "defaultTarget",
    "activeTarget",
)
_QUIET_NAN = 0x7FC00000


def from_dump(text: bytes) -> Plain:
    """A dump in JSON as plain Python; `-0` keeps its sign."""
    dump = json.loads(text.decode("utf-8", "surrogateescape"), parse_int=float)
    return {
        "set": {"proc": dump["set"]["proc"] or None, **_fields(dump["set"])},
        "examples": [_example(example) for example in dump["examples"]],
    }


def to_plain(examples: ExampleSet) -> Plain:
    """An example set as plain Python."""
    header = examples.header
    proc = None if header.proc is None else header.proc.decode("utf-8", "surrogateescape")
    reals = {field: int(header.real(field).view(np.uint32)) for field in REAL_FIELDS}
    return {"set": {"proc": proc, **reals}, "examples": list(_examples(examples))}


def _fields(entry: Plain) -> Plain:
    words = zip(REAL_FIELDS, _WORDS, strict=True)
    return {field: _bits([entry[word]])[0] for field, word in words}


def _bits(reals: list[float | str]) -> list[int]:
    values = np.array([float(real) for real in reals], np.float32)
    return [_QUIET_NAN if nan else bits for bits, nan in _pairs(values)]


def _pairs(values: np.ndarray[Any, np.dtype[np.float32]]) -> Iterator[tuple[int, bool]]:
    return zip(values.view(np.uint32).tolist(), np.isnan(values).tolist(), strict=True)


def _example(entry: Plain) -> Plain:
    events = entry["events"]
    lists: list[list[Plain]] = []
    numbers: dict[tuple[str, int], int | None] = {}
    for role in ("input", "target"):
        for v in range(len(events)):
            numbers[role, v] = _number(events, role, v, numbers, lists)
    return {
        "name": entry["name"],
        "proc": entry["proc"] or None,
        "frequency": _bits([entry["freq"]])[0],
        "lists": lists,
        "events": [
            {
                "proc": event["proc"] or None,
                **_fields(event),
                "inputs": numbers["input", v],
                "targets": numbers["target", v],
            }
            for v, event in enumerate(events)
        ],
    }


def _number(
    events: list[Plain],
    role: str,
    v: int,
    numbers: dict[tuple[str, int], int | None],
    lists: list[list[Plain]],
) -> int | None:
    """The number of an event's list, which is added to the lists when it is new."""
    entry = events[v][role]
    while isinstance(entry, dict):
        ((word, other),) = entry.items()
        role, v = word.removeprefix("sameAs").removesuffix("Of").lower(), int(other)
        if (role, v) in numbers:
            return numbers[role, v]
        entry = events[v][role]
    if entry is None:
        return None
    lists.append([_range(row) for row in entry])
    numbers[role, v] = len(lists) - 1
    return len(lists) - 1


def _range(entry: Plain) -> Plain:
    kind = entry["kind"]
    plain = {"group": entry["group"], "kind": kind}
    if kind == "dense":
        return {**plain, "first": int(entry["first"]), "values": _bits(entry["values"])}
    plain["value"] = _bits([entry["value"]])[0]
    return plain if kind == "empty" else {**plain, "units": [int(u) for u in entry["units"]]}


def _examples(examples: ExampleSet) -> Iterator[Plain]:
    events = list(_events(examples))
    offsets = examples.event_offsets.tolist()
    ranges = [_own_range(examples, r) for r in range(len(examples.ranges))]
    bounds = examples.lists.tolist()
    for i in range(len(examples)):
        own = events[offsets[i] : offsets[i + 1]]
        used = {event[role] for event in own for role in ("inputs", "targets")} - {-1}
        first = min(used, default=0)
        assert used == set(range(first, first + len(used)))
        for event in own:
            for role in ("inputs", "targets"):
                event[role] = None if event[role] < 0 else event[role] - first
        yield {
            "name": examples.name.text(i),
            "proc": examples.proc.text(i),
            "frequency": int(examples.frequency[i : i + 1].view(np.uint32)[0]),
            "lists": [ranges[bounds[k] : bounds[k + 1]] for k in sorted(used)],
            "events": own,
        }


def _events(examples: ExampleSet) -> Iterator[Plain]:
    columns = examples.events
    reals = {}
    for field in REAL_FIELDS:
        column = columns.real(field)
        inherited = np.nan if field in TIME_FIELDS else examples.header.real(field)
        reals[field] = _bits(np.where(column.present, column.values, inherited).tolist())
    inputs, targets = columns.inputs.tolist(), columns.targets.tolist()
    for v in range(len(columns)):
        own = {field: reals[field][v] for field in REAL_FIELDS}
        yield {"proc": columns.proc.text(v), **own, "inputs": inputs[v], "targets": targets[v]}


def _own_range(examples: ExampleSet, r: int) -> Plain:
    ranges = examples.ranges
    group, values, units = int(ranges.group[r]), ranges.values[r], ranges.units[r]
    kind = "dense" if values.size else "sparse" if units.size else "empty"
    plain: Plain = {"group": None if group < 0 else examples.groups.text(group), "kind": kind}
    if kind == "dense":
        bits = values.view(np.uint32).tolist()
        return {**plain, "first": int(ranges.first[r]), "values": bits}
    plain["value"] = int(ranges.value[r : r + 1].view(np.uint32)[0])
    return plain if kind == "empty" else {**plain, "units": units.tolist()}
