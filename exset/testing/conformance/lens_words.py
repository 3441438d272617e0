"""Say in words how two meanings of Lens files differ.

`events 2-3 of example 0 get no targets: expected the list of event 1, shared`
"""

from collections.abc import Iterator
from typing import Final, cast

from exset.core.text import counted
from exset.grammars.lens.columns import REAL_FIELDS
from exset.testing.conformance.nodes import Document, Json, Node, shown

_SIDES: Final = ("inputs", "targets")


def explained(expected: Document, found: Document) -> list[str]:
    """Return how two canonical meanings differ: one sentence for each difference."""
    return list(_differences(Node(expected), Node(found)))


def _differences(expected: Node, found: Node) -> Iterator[str]:
    for field in ("proc", *REAL_FIELDS):
        yield from _differing(f"the set: {field}", expected.get("set"), found.get("set"), field)
    pairs = [list(each.get("examples").items()) for each in (expected, found)]
    if len(pairs[0]) != len(pairs[1]):
        count = counted(len(pairs[0]), "example")
        yield f"the set: expected {count}, not {len(pairs[1])}"
    for i, (one, other) in enumerate(zip(*pairs, strict=False)):
        if one.value != other.value:
            yield from _example(f"example {i}", one, other)


def _differing(
    what: str, expected: Node, found: Node, field: str, none: str = "none"
) -> Iterator[str]:
    one, other = (cast(Json, each.get(field).value) for each in (expected, found))
    if one != other:
        texts = [none if each is None else shown(each) for each in (other, one)]
        yield f"{what} is {texts[0]}: expected {texts[1]}"


def _example(name: str, expected: Node, found: Node) -> Iterator[str]:
    for field in ("name", "proc", "frequency"):
        yield from _differing(f"{name}: {field}", expected, found, field)
    events = [list(each.get("events").items()) for each in (expected, found)]
    if len(events[0]) != len(events[1]):
        yield f"{name}: expected {counted(len(events[0]), 'event')}, not {len(events[1])}"
    pairs = list(zip(*events, strict=False))
    said: dict[str, list[int]] = {}
    for v, (one, other) in enumerate(pairs):
        for field in ("proc", *REAL_FIELDS):
            none = "none" if field == "proc" else "that of the set"
            for sentence in _differing(field, one, other, field, none):
                said.setdefault(sentence, []).append(v)
        for side in _SIDES:
            if sentence := _side(side, one, other, expected, found):
                said.setdefault(sentence, []).append(v)
    for sentence, numbers in said.items():
        yield f"{name}: {_events(numbers)}: {sentence}"
    if not said:
        yield from _sharing(name, pairs)


def _side(side: str, one: Node, other: Node, expected: Node, found: Node) -> str:
    """Return how the lists of an event differ, in words. Return "" if they have equal values.

    side: inputs or targets. one: the event in the expected meaning, whose example is `expected`.
    other: the same event in the meaning of the reader, whose example is `found`.
    """
    lists = [_list(side, *pair) for pair in ((one, expected), (other, found))]
    values = [None if each is None else each.value for each in lists]
    if values[0] == values[1]:
        return ""
    if lists[1] is None:
        return f"no {side}: expected {_shared_with(side, one, expected)}{_ranges(lists[0])}"
    if lists[0] is None:
        return f"{side} {_ranges(lists[1])}: expected none"
    return f"{side} {_ranges(lists[1])}: expected {_ranges(lists[0])}"


def _list(side: str, event: Node, example: Node) -> Node | None:
    number = event.get(side)
    if number.missing:
        return None
    return list(example.get("lists").items())[number.integer()]


def _shared_with(side: str, event: Node, example: Node) -> str:
    """Return a text that names another event with the same list, such as `the list of event 1, `.

    event: the event that has the list. example: the example that has both events. Return "" if no
    other event has the list.
    """
    number = event.get(side).value
    for v, other in enumerate(example.get("events").items()):
        for each in _SIDES:
            if other.value is not event.value and other.get(each).value == number:
                return f"the list of event {v}{'' if each == side else f' ({each})'}, shared, "
    return ""


def _ranges(ranges: Node | None) -> str:
    if ranges is None:
        return "none"
    texts = []
    for each in ranges.items():
        group = each.get("group")
        words = [] if group.missing else [shown(group.string())]
        if each.get("kind").value == "dense":
            if first := each.get("first").integer():
                words.append(f"from unit {first}:")
            words += [shown(value.real()) for value in each.get("values").items()]
        else:
            units = each.get("units")
            numbers = [] if units.missing else [unit.integer() for unit in units.items()]
            words.append(f"{{{shown(each.get('value').real())}}}")
            words += ["*"] if numbers[:1] == [-1] else [str(number) for number in numbers]
        texts.append(" ".join(words))
    text = "; ".join(texts)
    return f"[{text if len(text) <= 120 else text[:117] + '...'}]"


def _sharing(name: str, pairs: list[tuple[Node, Node]]) -> Iterator[str]:
    """Yield texts that say which events share a list in one meaning, but not in the other.

    name: the example. pairs: for each event, what both meanings have.
    """
    groups = [_groups([pair[k] for pair in pairs]) for k in (0, 1)]
    for words, one, other in (
        ("must share one list", groups[0], groups[1]),
        ("must not share a list: they only have equal ones", groups[1], groups[0]),
    ):
        for group in one:
            if group not in other and len(group) > 1:
                sides = {side: [v for v, each in group if each == side] for side in _SIDES}
                places = [
                    f"the {s} of {_events(numbers)}" for s, numbers in sides.items() if numbers
                ]
                yield f"{name}: {' and '.join(places)} {words}"


def _groups(events: list[Node]) -> list[list[tuple[int, str]]]:
    """Return groups of pairs (event, side) that have the same list."""
    found: dict[int, list[tuple[int, str]]] = {}
    for v, event in enumerate(events):
        for side in _SIDES:
            if not (number := event.get(side)).missing:
                found.setdefault(number.integer(), []).append((v, side))
    return list(found.values())


def _events(numbers: list[int]) -> str:
    """Return a text that names events: `event 2`, `events 2-4`, `events 0, 2`."""
    if len(numbers) == 1:
        return f"event {numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"events {numbers[0]}-{numbers[-1]}"
    return f"events {', '.join(map(str, numbers))}"
