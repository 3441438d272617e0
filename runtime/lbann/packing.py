"""Which fields are packed together, and in which order.

LBANN, data_reader_HDF5.cpp: build_packing_map, pack.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from exset.core.errors import Findings, FormatError
from exset.grammars.lbann.schema_findings import finding_at
from exset.runtime.lbann.merged_schema import Resolved
from exset.runtime.lbann.transforms import Compat, Recipe, recipe


@dataclass(frozen=True)
class Group:
    """Fields that are packed into one vector, in this order."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What is read and what comes of it: recipes by field, and packed groups by name."""

    recipes: tuple[Recipe, ...]
    groups: tuple[Group, ...]
    compat: Compat = None


def plan(resolved: Resolved, *, compat: Compat = None, findings: Findings | None = None) -> Plan:
    """Return what the merged metadata ask for.

    Raises FormatError for directives that LBANN cannot follow either, and with `compat` for all
    that it cannot; ValueError for another `compat`.
    """
    if compat not in (None, "lbann"):
        raise ValueError(f"compat must be 'lbann' or None, not {compat!r}")
    heard = Findings() if findings is None else findings
    recipes = tuple(recipe(field, compat, heard) for field in resolved)
    return Plan(recipes, _groups(recipes, heard), compat)


def _groups(recipes: tuple[Recipe, ...], findings: Findings) -> tuple[Group, ...]:
    """Return the packed groups by name, their members by ordering and then by name."""

    def rank(member: Recipe) -> tuple[bool, int]:
        return member.ordering is None, member.ordering or 0

    packed: dict[str, list[Recipe]] = {}
    for each in recipes:
        if each.pack is not None:
            packed.setdefault(each.pack, []).append(each)
    groups = []
    for name, members in sorted(packed.items()):
        members.sort(key=rank)
        for (absent, value), tied in groupby(members, rank):
            second = [*tied][1:2]
            if second and not absent:
                place = second[0].field.metadata["ordering"].place
                findings.add(finding_at("lbann-ordering", place, group=name, value=value))
        groups.append(Group(name, tuple(member.name for member in members)))
    _check_names(recipes, groups, findings)
    return tuple(groups)


def _check_names(recipes: tuple[Recipe, ...], groups: list[Group], findings: Findings) -> None:
    """Refuse a group whose name is in the way of a field that is still to be used."""
    at = {each.name: each for each in recipes}
    below: dict[str, list[Recipe]] = {}
    for each in recipes:
        for around in _above(each.name):
            below.setdefault(around, []).append(each)
    names = {group.name for group in groups}
    for group in groups:
        above = [at[name] for name in _above(group.name) if name in at]
        others = [each for each in (*below.get(group.name, ()), *above) if each.pack != group.name]
        if (same := at.get(group.name)) is not None and same.pack is None:
            findings.add(finding_at("lbann-hidden-field", same.field.place, group=group.name))
        elif same is not None and same.pack != group.name:
            others.append(same)
        if others or any(name in names for name in _above(group.name)):
            what = others[0].name if others else "another group"
            raise FormatError(
                f"the packed group {group.name} would take the place of {what}",
                place=at[group.members[0]].field.metadata["pack"].place,
                hint="rename the group",
                code="schema-pack",
            )


def _above(name: str) -> list[str]:
    """Return the paths of the groups around a name."""
    return [name[:end] for end, char in enumerate(name) if char == "/"]
