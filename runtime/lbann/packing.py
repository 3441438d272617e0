"""Plan an experiment: the transform of each field, and the order of the fields in packed groups.

LBANN: data_reader_HDF5.cpp, build_packing_map and pack.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Final

from exset.core.errors import MOST_ERRORS, Findings, FormatError
from exset.grammars.lbann.schema_findings import finding_at, wrong_suffix
from exset.runtime.lbann.directives import Compat, error_of
from exset.runtime.lbann.merged_schema import MergedSchema, joined
from exset.runtime.lbann.transforms import FieldTransform, TransformBuilder

_PLURALS: Final = {
    "sample": "samples",
    "datum": "samples",
    "data": "samples",
    "label": "labels",
    "response": "responses",
}
"""Group names that LBANN's readers do not look for, with the names that they do look for."""


@dataclass(frozen=True)
class Group:
    """A packed group, which is one vector.

    members: the names of its fields, in the vector's order.
    """

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The transforms of the fields that are read, and the packed groups."""

    transforms: tuple[FieldTransform, ...]
    groups: tuple[Group, ...]
    compat: Compat = None


def plan(schema: MergedSchema, *, compat: Compat = None, findings: Findings | None = None) -> Plan:
    """Return the plan that the merged metadata describe.

    Raises FormatError for directives that cannot work; with `compat`, also for all directives that
    LBANN refuses. Raises ValueError for an unknown `compat`.
    """
    if compat not in (None, "lbann"):
        raise ValueError(f"compat must be 'lbann' or None, not {compat!r}")
    findings = Findings() if findings is None else findings
    if compat is not None:
        for source in (schema.data.source, schema.experiment.source):
            if source is not None and (finding := wrong_suffix(source.name)) is not None:
                raise error_of(finding)
    transforms = _transforms(schema, compat, findings)
    return Plan(transforms, _groups(transforms, findings), compat)


def _transforms(
    schema: MergedSchema, compat: Compat, findings: Findings
) -> tuple[FieldTransform, ...]:
    """Return the transform of each field.

    If fields are wrong, raises one FormatError that has an error for each of them. A directive that
    several fields inherit is reported once.
    """
    transforms, errors = [], list[FormatError]()
    for field in schema.fields:
        try:
            transforms.append(TransformBuilder(field, compat, findings).build())
        except FormatError as error:
            if error.place is None or all(error.place != each.place for each in errors):
                errors.append(error)
            if len(errors) > MOST_ERRORS:
                break
    if errors:
        raise joined(errors)
    return tuple(transforms)


def _groups(transforms: tuple[FieldTransform, ...], findings: Findings) -> tuple[Group, ...]:
    """Return the packed groups, sorted by name.

    Their members are sorted by ordering, then by name.
    """

    def rank(member: FieldTransform) -> tuple[bool, int]:
        return member.ordering is None, member.ordering or 0

    packed: dict[str, list[FieldTransform]] = {}
    for each in transforms:
        if each.pack is not None:
            packed.setdefault(each.pack, []).append(each)
    groups = []
    for name, members in sorted(packed.items()):
        members.sort(key=rank)
        place = members[0].field.metadata["pack"].place
        if name in _PLURALS and _PLURALS[name] not in packed:
            plural = _PLURALS[name]
            findings.add(finding_at("lbann-group-name", place, group=name, plural=plural))
        for (absent, value), tied in groupby(members, rank):
            second = [*tied][1:2]
            if second and not absent:
                place = second[0].field.metadata["ordering"].place
                findings.add(finding_at("lbann-ordering", place, group=name, value=value))
        groups.append(Group(name, tuple(member.name for member in members)))
    _check_names(transforms, groups, findings)
    return tuple(groups)


def _check_names(
    transforms: tuple[FieldTransform, ...], groups: list[Group], findings: Findings
) -> None:
    """Refuse a group whose name would hide a field or a group that is still used."""
    at = {each.name: each for each in transforms}
    below: dict[str, list[FieldTransform]] = {}
    for each in transforms:
        for around in _above(each.name):
            below.setdefault(around, []).append(each)
    names = {group.name for group in groups}
    for group in groups:
        above = _above(group.name)
        others = [*below.get(group.name, ()), *(at[name] for name in above if name in at)]
        if (same := at.get(group.name)) is not None and same.pack is None:
            findings.add(finding_at("lbann-hidden-field", same.field.place, group=group.name))
        elif same is not None:
            others.append(same)
        hidden = [each.name for each in others if each.pack != group.name]
        if hidden or not names.isdisjoint(above):
            what = hidden[0] if hidden else "another group"
            message = f"the packed group {group.name} would hide {what}"
            place = at[group.members[0]].field.metadata["pack"].place
            raise FormatError(message, place=place, hint="rename the group", code="schema-pack")


def _above(name: str) -> list[str]:
    return [name[:end] for end, char in enumerate(name) if char == "/"]
