"""The data of an example, for `right_reader`: which event gets which list."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from tests.conformance.right_reader import RightReader

Plain = dict[str, Any]


class Body:
    """What Lens remembers while it reads the data of an example."""

    def __init__(self, reader: "RightReader", header: Plain, count: int) -> None:
        self.reader = reader
        self.header = header
        self.events: list[Plain] = [{"inputs": None, "targets": None} for _ in range(count)]
        self.lists: list[list[Plain]] = []
        self.active = list(range(count))
        self.seen = {"inputs": True, "targets": True}
        self.next = {"inputs": 0, "targets": 0}

    def item(self) -> None:
        read = self.reader
        if read.takes("["):
            self.event_list()
            return
        for word, sides in (("I", ["inputs"]), ("T", ["targets"]), ("B", ["inputs", "targets"])):
            for spelled in (word, word.lower()):
                if read.takes(f"{spelled}:"):
                    self.data(sides, spelled.islower())
                    return
        read.refuse()

    def event_list(self) -> None:
        read, count = self.reader, len(self.events)
        chosen: set[int] = set()
        while True:
            if read.takes("*"):
                chosen |= set(range(count))
            elif (event := read.integer("")) is not None:
                last = event
                is_apart = not read.text[read.at : read.at + 1].strip()
                is_span = read.text[read.skip() : read.at + 1] == "-"
                if is_apart and is_span and read.has("no-blank-in-span"):
                    read.refuse()
                if read.takes("-"):
                    end = read.integer()
                    if (
                        end is None
                        or end < event
                        or (end == event and not read.has("event-span-of-one"))
                    ):
                        read.refuse()
                    last = end - 1 if read.has("event-span-short") and end > event else end
                if last >= count:
                    read.refuse()
                chosen |= set(range(event, last + 1))
            else:
                break
        self.active = sorted(chosen) or list(range(count))
        self.seen = {"inputs": False, "targets": False}
        if read.has("forgets-fields"):
            for event in self.active:
                kept = {side: self.events[event][side] for side in ("inputs", "targets")}
                self.events[event] = kept
        self.fields()

    def fields(self) -> None:
        read = self.reader
        listed = range(len(self.events)) if read.has("field-for-all") else self.active
        while not read.takes("]"):
            if read.takes("proc:"):
                name, value = "proc", cast(object, read.raw())
            elif (found := read.field()) is not None:
                name, value = found, read.real()
                if read.has("late-active") and name in ("active_input", "active_target"):
                    self.change(name, value)
            else:
                read.refuse()
            for event in listed:
                self.events[event][name] = value

    def change(self, name: str, value: object) -> None:
        side = "inputs" if name == "active_input" else "targets"
        for event in self.active:
            if (number := self.events[event][side]) is not None:
                for each in self.lists[number]:
                    if each["kind"] != "dense":
                        each["value"] = value

    def data(self, sides: list[str], sparse: bool) -> None:
        read = self.reader
        listed = {side: self.targets_of(side) for side in sides}
        first = sides[0]
        if read.has("both-same-event") and len(sides) == 2:
            listed["targets"] = listed["inputs"]
        taken = listed[first]
        number = len(self.lists)
        ranges = self.ranges(first if not self.wrong_active(sides) else "targets", taken, sparse)
        if ranges:
            self.lists.append(ranges)
        for side in sides:
            for event in listed[side]:
                if self.events[event][side] is not None and not read.has("second-inputs"):
                    read.refuse()
                self.events[event][side] = (
                    self.shared(number, event, side, listed) if ranges else None
                )
            self.advance(side, listed[side], bool(ranges))

    def wrong_active(self, sides: list[str]) -> bool:
        return len(sides) == 2 and self.reader.has("both-uses-target")

    def shared(self, number: int, event: int, side: str, listed: dict[str, list[int]]) -> int:
        is_first = event == listed[side][0]
        copies = (self.reader.has("both-copied") and len(listed) == 2 and side == "targets") or (
            self.reader.has("events-copied") and not is_first
        )
        if not copies:
            return number
        self.lists.append(self.lists[number])
        return len(self.lists) - 1

    def targets_of(self, side: str) -> list[int]:
        """The events that the next data of a side are for."""
        if not self.seen[side]:
            return self.active
        if self.next[side] >= len(self.events):
            if self.reader.has("extra-inputs"):
                return []
            self.reader.refuse()
        return [self.next[side]]

    def advance(self, side: str, events: list[int], has_data: bool) -> None:
        read = self.reader
        if self.seen[side] and not (read.has("empty-waits") and not has_data):
            self.next[side] += 1
        elif not self.seen[side]:
            last = max(events) + 1
            self.next[side] = last if read.has("next-goes-back") else max(self.next[side], last)
        self.seen[side] = True

    def value_of(self, side: str, events: Iterable[int]) -> float:
        read, field = self.reader, f"active_{side[:-1]}"
        if read.has("set-active") or not (some := list(events)):
            return float(self.header[field])
        event = self.events[some[-1 if read.has("last-active") else 0]]
        return float(event[field] if field in event else self.header[field])

    def ranges(self, side: str, events: list[int], sparse: bool) -> list[Plain]:
        read, found = self.reader, list[Plain]()
        active = self.value_of(side, events)
        is_open = False

        def new(kind: str) -> Plain:
            one: Plain = {"group": None, "kind": kind, "first": 0, "value": active}
            if found and read.has("group-stays"):
                one["group"] = found[-1]["group"]
            found.append({**one, "values": [], "units": []})
            return found[-1]

        while True:
            if read.takes("{"):
                sparse, is_open, each = True, True, new("sparse")
                while not read.takes("}"):
                    if read.is_number():
                        value = read.real()
                        if not (np.isnan(value) and read.has("dash-in-braces")):
                            each["value"] = value
                    else:
                        self.group(each)
            elif read.takes("("):
                sparse, is_open, each = False, True, new("dense")
                while not read.takes(")"):
                    if not read.is_number():
                        self.group(each)
                    elif (first := read.integer()) is None:
                        read.refuse()
                    else:
                        each["first"] = first
            elif sparse and read.takes("*"):
                each = found[-1] if is_open else new("sparse")
                if each["units"]:
                    read.refuse()
                each["units"].append(0 if read.has("star-is-zero") else -1)
                is_open = True
                if read.is_number() and not read.has("star-and-units"):
                    read.refuse()
            elif read.is_number():
                each = found[-1] if is_open else new("sparse" if sparse else "dense")
                is_open = True
                self.unit(each) if sparse else each["values"].append(read.real())
            else:
                break
        if read.has("star-is-group-end"):
            stars = [i for i, each in enumerate(found) if each["units"] == [-1]]
            found = found[: stars[0] + 1] if stars else found
        return [finished(each) for each in found]

    def group(self, each: Plain) -> None:
        before = self.reader.skip()
        name = self.reader.raw()
        if self.reader.at == before:
            self.reader.refuse()
        each["group"] = name or each["group"]

    def unit(self, each: Plain) -> None:
        read, units = self.reader, each["units"]
        unit = read.integer()
        if unit is None or abs(unit) >= 2**31 or read.text[read.at : read.at + 1] == ".":
            read.refuse()
        if unit < 0 and (not units or -unit < units[-1]):
            read.refuse()
        if unit < 0 and -unit == units[-1] and read.has("no-span-of-one"):
            read.refuse()
        units.append(-unit if unit < 0 and read.has("span-end-lost") else unit)


def finished(each: Plain) -> Plain:
    """A range as the meaning has it."""
    kept = ["group", "kind"]
    if each["values"]:
        kept += ["first", "values"]
    elif each["units"]:
        kept += ["value", "units"]
    else:
        each["kind"] = "empty"
        kept += ["value"]
    return {name: each[name] for name in kept}
