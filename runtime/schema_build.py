"""A data schema, from HDF5 files: which fields samples have, and what their numbers are like.

Samples are the groups that hold what a prototype holds: the same fields in the same places. One
whose fields differ from it in size or type is no sample to LBANN's own generator, which leaves it
out in silence (generate_schema_and_sample_list.cpp); here it is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from exset.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.grammars.schema import METADATA, Directive, Node, Path, Schema
from exset.jobs import run
from exset.limits import DEFAULT, Limits
from exset.parsers.schema import parse
from exset.parsers.schema_text import written
from exset.runtime.hdf5 import USUAL, Access, File, Form, is_group
from exset.runtime.schema_check import failure
from exset.runtime.statistics import Spread
from exset.source import Source

Normalise: TypeAlias = Literal["range", "unit"]
"""What scale and bias are to bring numbers to: 0 to 1, or mean 0 and deviation 1."""

STEP = 10
"""How far the orderings of fields are apart, so that others fit between them."""

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


@dataclass(frozen=True)
class Built:
    """A data schema, the samples of each file that it describes, and what was odd."""

    schema: Schema
    prototype: Prototype
    samples: Mapping[str, Sequence[str]]
    findings: Findings

    def __len__(self) -> int:
        return sum(map(len, self.samples.values()))


def build(
    files: Sequence[str],
    sample: str | None = None,
    *,
    normalise: Normalise | None = None,
    access: Access = USUAL,
    limits: Limits = DEFAULT,
    jobs: int = 1,
) -> Built:
    """Return a data schema of the samples in files.

    sample: the path of the prototype in the first file; without it, it is guessed. normalise: add
    scale and bias, for which all values are read. Files that cannot be read are findings. Raises
    FormatError and OSError for the first file, and ValueError if there is none.
    """
    if not files:
        raise ValueError("there are no files")
    findings = Findings()
    with File(files[0], access, limits) as file:
        prototype = _prototype(file, guessed(file) if sample is None else sample, findings)
    look = partial(
        _look, prototype=prototype, spread=normalise is not None, access=access, limits=limits
    )
    samples: dict[str, list[str]] = {}
    spreads = {name: Spread() for name in prototype.forms}
    for outcome in run(look, files, jobs=jobs):
        path = outcome.item
        if outcome.error is not None:
            findings.add(failure(path, outcome.error))
            continue
        tally = outcome.result()
        samples[path] = tally.samples
        for name, spread in tally.spreads.items():
            spreads[name].add(spread)
        for odd, how in tally.odd:
            message = f"nearly a sample, but {how}: left out"
            place = Place(path, field=odd)
            findings.add(Finding("hdf5-odd-sample", Severity.WARNING, message, place))
        if not tally.samples:
            message = f"it has no sample like {prototype.sample}"
            findings.add(Finding("hdf5-no-sample", Severity.WARNING, message, Place.of(path)))
    schema = _schema(prototype, spreads, normalise, samples, findings)
    return Built(schema, prototype, samples, findings)


def experiment(data: Schema, packs: Iterable[tuple[str, str]] = ()) -> Schema:
    """Return an experiment schema for a data schema.

    packs: packed group and path, `samples` and `inputs`, say; all fields below the path go into
    the group, as float. Without any, all fields are read apart. Raises FormatError for a path that
    the data schema does not have.
    """
    root = Node({name: Node() for name in data.root.children})
    chosen = [(group, tuple(filter(None, path.split("/")))) for group, path in packs]
    if chosen:
        root = Node()
    for group, path in chosen:
        if not path or data.root.find(path) is None:
            raise FormatError(
                f"the data schema has no {'/'.join(path)!r}", code="schema-unknown-field"
            )
        packed = {"pack": Directive(group), "coerce": Directive("float")}
        root = _with(root, path, packed)
    return Schema(root)


def guessed(file: File) -> str:
    """Return the path of what is likely a sample: the first group that is not one of many alike.

    From the root down: a group with a dataset in it is a sample, and so is one whose groups differ;
    FormatError for a file without datasets.
    """
    path, group = "", file.find("")
    while True:
        names = file.names(group, path)
        step = max(1, len(names) // _LOOKED_AT)
        children = [(name, file.find(name, group)) for name in names[::step]]
        if any(not is_group(child) for _, child in children):
            break
        inside = [_outline(file, child, f"{path}/{name}") for name, child in children]
        if not children or any(each != inside[0] for each in inside):
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


def _prototype(file: File, sample: str, findings: Findings) -> Prototype:
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


def _look(path: str, prototype: Prototype, spread: bool, access: Access, limits: Limits) -> Tally:
    """Find the samples of one file, depth first; what is inside of one is not looked at."""
    tally = Tally()
    with File(path, access, limits) as file:
        stack = [("", file.find(""))]
        left = limits.max_nodes
        while stack:
            where, group = stack.pop()
            left -= 1
            if left < 0:
                raise LimitError("too many groups", place=Place.of(path))
            names = file.names(group, where)
            if where and not prototype.names.isdisjoint(names):
                _judge(file, where, group, prototype, spread, tally)
                continue
            for name in reversed(names):
                child = file.find(name, group)
                if child is not None and is_group(child):
                    stack.append((f"{where}/{name}".lstrip("/"), child))
    return tally


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
            file.read(file.find(name, group), here, f"{where}/{name}")
            tally.spreads.setdefault(name, Spread()).add(Spread.of(here))


def _schema(
    prototype: Prototype,
    spreads: Mapping[str, Spread],
    normalise: Normalise | None,
    samples: Mapping[str, Sequence[str]],
    findings: Findings,
) -> Schema:
    root = Node()
    notes: dict[Path, str] = {}
    for number, (name, form) in enumerate(prototype.forms.items(), 1):
        path = tuple(name.split("/"))
        notes[path] = str(form) + ("" if form.dtype in ("float32", "float64") else ", no real")
        given = {"ordering": Directive(number * STEP)}
        if len(form.shape) > 1:
            given |= {"dims": Directive(tuple(form.shape)), "channels": Directive(1)}
        if normalise is not None and form.kind == "number":
            given |= _normalised(name, form, spreads[name], normalise, notes, path, findings)
        root = _with(root, path, given)
    count = sum(map(len, samples.values()))
    of = f"{count} sample{'s' * (count != 1)} in {len(samples)} file{'s' * (len(samples) != 1)}"
    head = [f"The fields of {of}, such as {prototype.sample}."]
    text = written(root, notes, head)
    return parse(Source("data_schema.yaml", text), limits=DEFAULT.with_(max_depth=100))


def _normalised(
    name: str,
    form: Form,
    spread: Spread,
    normalise: Normalise,
    notes: dict[Path, str],
    path: Path,
    findings: Findings,
) -> dict[str, Directive]:
    if spread.count:
        notes[path] += f", {spread.low:g} to {spread.high:g}, mean {spread.mean:g}"
    if spread.odd:
        notes[path] += f", {spread.odd} not finite"
        message = f"{spread.odd} values of {name} are not finite: scale and bias are of the others"
        findings.add(Finding("schema-not-finite", Severity.WARNING, message))
    line = spread.to_range() if normalise == "range" else spread.to_unit()
    if line is None:
        message = f"the values of {name} do not differ: it gets no scale and no bias"
        findings.add(Finding("schema-constant", Severity.WARNING, message))
        return {}
    given = {"scale": Directive(line[0]), "bias": Directive(line[1])}
    if form.dtype not in ("float32", "float64"):
        given["coerce"] = Directive("float")
    return given


def _with(root: Node, path: Path, metadata: Mapping[str, Directive]) -> Node:
    """Return a tree in which the node at a path has metadata."""
    if not path:
        return Node(root.children, {**root.metadata, **metadata})
    below = _with(root.children.get(path[0], Node()), path[1:], metadata)
    return Node({**root.children, path[0]: below}, root.metadata)
