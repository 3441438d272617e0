"""The samples in HDF5 files: groups that hold what a prototype holds, at any depth.

One whose fields differ from the prototype's in size or type is no sample to LBANN's own generator,
which leaves it out in silence (generate_schema_and_sample_list.cpp); here it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.limits import DEFAULT, Limits, remedy
from exset.grammars.lbann.schema import METADATA
from exset.io.access import USUAL, Access
from exset.runtime.lbann.hdf5 import DEEPEST, File, Form, is_group
from exset.runtime.reports.statistics import Spread

_SHOWN = 4
_LOOKED_AT = 64


@dataclass(frozen=True)
class Prototype:
    """What a sample holds: its fields in their order, and the names directly below it."""

    sample: str
    forms: Mapping[str, Form]
    names: frozenset[str]


@dataclass
class Tally:
    """What was found in one file, or in all."""

    samples: list[str] = field(default_factory=list)
    odd: list[tuple[str, str]] = field(default_factory=list)
    """Groups that are nearly samples, and how they differ."""
    spreads: dict[str, Spread] = field(default_factory=dict)


def guessed(file: File) -> str:
    """Return the path of what is likely a sample: the first group that is not one of many alike.

    From the root down: a group with a dataset in it is a sample, and so is one whose groups differ;
    FormatError for a file without datasets.
    """
    path, group = "", file.find("")
    while True:
        names = file.names(group, path)
        step = max(1, len(names) // _LOOKED_AT)
        children = [(name, file.find(name, group, path)) for name in names[::step]]
        if any(not is_group(child) for _, child in children):
            break
        inside = [_outline(file, child, f"{path}/{name}") for name, child in children]
        too_deep = path.count("/") >= DEEPEST  # as in a circle of hard links
        if not children or too_deep or any(each != inside[0] for each in inside):
            break
        path, group = f"{path}/{names[0]}".lstrip("/"), children[0][1]
    if next(file.datasets(group, path), None) is None:
        raise FormatError(
            "no sample can be found in it",
            place=Place.of(file.path),
            hint="say what a sample is with --sample PATH",
            code="hdf5-no-sample",
        )
    if path == "":
        raise FormatError(
            "the file itself looks like a sample",
            place=Place.of(file.path),
            hint="samples are groups: say which is one with --sample PATH",
            code="hdf5-no-sample",
        )
    return path


def _outline(file: File, group: Any, path: str) -> frozenset[str]:
    return frozenset(name for name, _ in file.datasets(group, path))


def _forms(file: File, group: Any, path: str) -> dict[str, Form]:
    return {name: file.form(each, f"{path}/{name}") for name, each in file.datasets(group, path)}


def prototype_of(file: File, sample: str, findings: Findings) -> Prototype:
    """Return what a sample holds; FormatError if it is no group, or holds no field."""
    group = file.find(sample)
    if group is None or not is_group(group):
        raise FormatError(
            "the first file has no such group",
            place=Place(file.path, field=sample),
            hint="a sample is a group; its path goes from the root of the file",
            code="hdf5-no-sample",
        )
    forms = _forms(file, group, sample)
    for name in [name for name in forms if METADATA in name.split("/")]:
        message = f"no schema can name {name}: {METADATA} is a word of schemas; left out"
        place = Place(file.path, field=f"{sample}/{name}")
        findings.add(Finding("schema-reserved", Severity.WARNING, message, place))
        del forms[name]
    if not forms:
        raise FormatError(
            "the prototype holds no fields",
            place=Place(file.path, field=sample),
            code="hdf5-no-sample",
        )
    return Prototype(sample.strip("/"), forms, frozenset(file.names(group, sample)))


def scan(
    path: str,
    prototype: Prototype,
    *,
    spread: bool = False,
    access: Access = USUAL,
    limits: Limits = DEFAULT,
) -> Tally:
    """Find the samples of one file, depth first; what is inside of one is not looked at.

    spread: read all numbers, and tell what they are like. Raises FormatError and OSError.
    """
    tally = Tally()
    with File(path, access, limits) as file:
        for where, group in groups(
            file, lambda _, names: not prototype.names.isdisjoint(names), limits
        ):
            _judge(file, where, group, prototype, spread, tally)
    return tally


def groups(
    file: File, wanted: Callable[[str, Sequence[str]], bool], limits: Limits = DEFAULT
) -> Iterator[tuple[str, Any]]:
    """Yield the groups that are wanted, depth first, by their paths; none that is inside of one.

    wanted: is told the path of a group and the names in it. Raises FormatError for groups that lie
    too deep, as they do in a circle of hard links, and LimitError for too many.
    """
    stack = [("", file.find(""))]
    left = limits.max_nodes
    while stack:
        where, group = stack.pop()
        left -= 1
        if left < 0:
            raise LimitError(
                f"more than {limits.max_nodes:,} groups",
                place=Place.of(file.path),
                hint=remedy("max_nodes"),
            )
        if where.count("/") > DEEPEST:
            raise FormatError(
                f"groups lie more than {DEEPEST} deep, or in a circle",
                place=Place(file.path, field=f"{where[:40]}..."),
                code="hdf5",
            )
        names = file.names(group, where)
        if where and wanted(where, names):
            yield where, group
            continue
        for name in reversed(names):
            child = file.find(name, group, where)
            if child is not None and is_group(child):
                stack.append((f"{where}/{name}" if where else name, child))


def _judge(
    file: File, where: str, group: Any, prototype: Prototype, spread: bool, tally: Tally
) -> None:
    """Take a group for a sample, or say why it is none."""
    forms = _forms(file, group, where)
    wanted = prototype.forms
    ways = [f"it lacks {name}" for name in wanted if name not in forms]
    ways += [f"it has {name}, too" for name in forms if name not in wanted and METADATA not in name]
    for name, form in wanted.items():
        other = forms.get(name)
        if other is not None and (other.count, other.dtype) != (form.count, form.dtype):
            ways.append(f"{name} is {other}, not {form}")
    if ways:
        more = f" and {len(ways) - _SHOWN} more" if len(ways) > _SHOWN else ""
        tally.odd.append((where, "; ".join(ways[:_SHOWN]) + more))
        return
    tally.samples.append(where)
    if not spread:
        return
    for name, form in wanted.items():
        if form.kind == "number" and form.count:
            here = np.empty(forms[name].shape, form.dtype)
            file.read(file.find(name, group, where), here, f"{where}/{name}")
            tally.spreads.setdefault(name, Spread()).add(Spread.of(here))
