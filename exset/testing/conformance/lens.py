"""The meaning of Lens example sets as JSON, the same for `.ex` and `.bex` files.

`schemas/lens.schema.json` describes this JSON. In canonical form, the set has every field, and an
event has only the values that it does not inherit. An example's lists are in the order of their
first use: first the lists that events use as inputs, then those that they use as targets.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, cast

import numpy as np

from exset.grammars.lens.columns import REAL_FIELDS, TIME_FIELDS
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.testing.conformance.lens_words import explained
from exset.testing.conformance.nodes import Document, Json, Node, real, string

__all__ = ["explained", "features", "meaning", "normalized", "unshared"]

SIDES: Final = ("inputs", "targets")
_DEFAULTS: Final = {field: real(SetHeader().real(field)) for field in REAL_FIELDS}
_NAN: Final = real(np.float32(np.nan))
_ONE: Final = real(1)
_KINDS: Final = ("dense", "sparse", "empty")


def meaning(examples: ExampleSet) -> Document:
    """Return the meaning of an example set, in canonical form."""
    header = examples.header
    fields: Document = {field: real(header.real(field)) for field in REAL_FIELDS}
    fields["proc"] = _string(header.proc)
    names, procs = examples.name, examples.proc
    documents: list[Json] = [
        {
            "name": _string(names[i]),
            "proc": _string(procs[i]),
            "frequency": real(examples.frequency[i]),
            "events": list(_events(examples, i)),
        }
        for i in range(len(examples))
    ]
    return normalized(Node({"set": fields, "lists": _lists(examples), "examples": documents}))


def normalized(document: Node) -> Document:
    """Check a meaning that a program wrote; return its canonical form.

    A missing field gets its default. A list may be an array of ranges, or a number: the index of
    the list in the `lists` of the example or of the document. An event's field is dropped if the
    event would inherit the same value. Raises BadMeaning if the meaning is invalid.
    """
    document.known("set", "lists", "examples")
    header = _header(document.get("set"))
    common = document.get("lists")
    examples = [_example(each, header, common) for each in document.get("examples").items()]
    return {"set": header, "examples": cast(Json, examples)}


def unshared(document: Document) -> Document:
    """Return the meaning without sharing: all inputs and targets of events have their own lists."""
    plain = Node(document)
    examples = []
    for example in plain.get("examples").items():
        lists = [each.value for each in example.get("lists").items()]
        events = [
            {**_members(event), **{side: _copied(event.get(side), lists) for side in SIDES}}
            for event in example.get("events").items()
        ]
        examples.append({**_members(example), "lists": None, "events": events})
    return normalized(Node({"set": document["set"], "examples": examples}))


def features(document: Document) -> set[str]:
    """Return the features that a reader needs to read a set with this canonical meaning."""
    plain = Node(document)
    found = set[str]()
    if not plain.get("set").get("proc").missing:
        found.add("proc")
    for example in plain.get("examples").items():
        events = [_members(each) for each in example.get("events").items()]
        if len(events) > 1:
            found.add("multi-event")
        if any("proc" in each for each in (*events, _present(example))):
            found.add("proc")
        used = [event[side] for event in events for side in SIDES if event.get(side) is not None]
        if len(set(map(str, used))) < len(used):
            found.add("sharing")
        for each in example.get("lists").items():
            for item in each.items():
                found.add(item.get("kind").text())
                if not item.get("group").missing:
                    found.add("groups")
    return found & {"proc", "multi-event", "sharing", "sparse", "groups"}


def _string(value: bytes | None) -> Json:
    return None if value is None else string(value)


def _members(node: Node) -> Document:
    return cast(Document, node.value)


def _present(node: Node) -> Document:
    return {name: value for name, value in _members(node).items() if value is not None}


def _copied(number: Node, lists: list[object]) -> object:
    return None if number.missing else lists[number.integer()]


def _lists(examples: ExampleSet) -> list[Json]:
    ranges = [_own_range(examples, r) for r in range(len(examples.ranges))]
    bounds = examples.lists.tolist()
    return [cast(Json, ranges[a:b]) for a, b in pairwise(bounds)]


def _own_range(examples: ExampleSet, r: int) -> Document:
    ranges = examples.ranges
    group, values, units = int(ranges.group[r]), ranges.values[r], ranges.units[r]
    name = None if group < 0 else _string(examples.groups[group])
    if values.size:
        reals: Json = [real(value) for value in values]
        return {"group": name, "kind": "dense", "first": int(ranges.first[r]), "values": reals}
    plain: Document = {"group": name, "value": real(ranges.value[r])}
    if units.size:
        return {**plain, "kind": "sparse", "units": cast(Json, units.tolist())}
    return {**plain, "kind": "empty"}


def _events(examples: ExampleSet, i: int) -> Iterator[Document]:
    columns = examples.events
    for row in range(*examples.event_offsets[i : i + 2].tolist()):
        own: Document = {"proc": _string(columns.proc[row])}
        for field in REAL_FIELDS:
            value = columns.real(field)[row]
            if value is not None:
                own[field] = real(value)
        for side, column in zip(SIDES, (columns.inputs, columns.targets), strict=True):
            own[side] = None if column[row] < 0 else int(column[row])
        yield own


def _header(node: Node) -> Document:
    header: Document = {"proc": None, **_DEFAULTS}
    if node.missing:
        return header
    node.known("proc", *REAL_FIELDS)
    header["proc"] = node.get("proc").string() or None
    for field in REAL_FIELDS:
        if not (value := node.get(field)).missing:
            header[field] = value.real()
    return header


def _example(node: Node, header: Document, common: Node) -> Document:
    node.known("name", "proc", "frequency", "lists", "events")
    own = node.get("lists")
    given = (
        [*(common if own.missing else own).items()] if not (own.missing and common.missing) else []
    )
    lists: list[Json] = []
    numbers: dict[int, int] = {}
    events = list(node.get("events").items())
    if not events:
        raise node.get("events").error("one or more events")
    documents = [_event(event, header) for event in events]

    def number(place: Node) -> int | None:
        if place.missing:
            return None
        if isinstance(place.value, list):
            lists.append([_range(each) for each in place.items()])
            return len(lists) - 1
        index = place.integer()
        if not 0 <= index < len(given):
            raise place.error(f"the number of one of {len(given)} lists")
        if index not in numbers:
            numbers[index] = len(lists)
            lists.append([_range(each) for each in given[index].items()])
        return numbers[index]

    for side in SIDES:
        for document, event in zip(documents, events, strict=True):
            document[side] = number(event.get(side))
    frequency = node.get("frequency")
    return {
        "name": node.get("name").string(),
        "proc": node.get("proc").string() or None,
        "frequency": _ONE if frequency.missing else frequency.real(),
        "lists": lists,
        "events": cast(Json, documents),
    }


def _event(node: Node, header: Document) -> Document:
    node.known("proc", *REAL_FIELDS, *SIDES)
    event: Document = {}
    if proc := node.get("proc").string():
        event["proc"] = proc
    for field in REAL_FIELDS:
        place = node.get(field)
        if place.missing:
            continue
        value = place.real()
        inherited = (header[field], _NAN) if field in TIME_FIELDS else (header[field],)
        if value not in inherited:
            event[field] = value
    return event


def _range(node: Node) -> Document:
    node.known("group", "kind", "first", "values", "value", "units")
    kind = node.get("kind")
    if kind.value not in _KINDS:
        raise kind.error("dense, sparse or empty")
    document: Document = {"group": node.get("group").string() or None, "kind": kind.text()}
    if kind.value == "dense":
        first = node.get("first")
        document["first"] = 0 if first.missing else first.integer()
        document["values"] = [value.real() for value in node.get("values").items()]
    else:
        document["value"] = node.get("value").real()
    if kind.value == "sparse":
        document["units"] = [unit.integer() for unit in node.get("units").items()]
    return document
