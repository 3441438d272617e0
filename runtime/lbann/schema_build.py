"""A data schema, from HDF5 files: which fields samples have, and what their numbers are like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.columns.tree import DEEPEST
from exset.grammars.lbann.schema import Directive, Node, Path, Schema
from exset.io.access import USUAL, Access
from exset.parsers.lbann.schema import parse
from exset.parsers.lbann.schema_text import written
from exset.runtime.lbann.hdf5 import File, Form
from exset.runtime.lbann.hdf5_files import failure
from exset.runtime.lbann.hdf5_scan import Prototype, guessed, prototype_of, scan
from exset.runtime.lbann.small_files import run_in_batches
from exset.runtime.reports.statistics import Spread

Normalise: TypeAlias = Literal["range", "unit"]
"""What scale and bias are to bring numbers to: 0 to 1, or mean 0 and deviation 1."""

STEP = 10
"""How far the orderings of fields are apart, so that others fit between them."""


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
        prototype = prototype_of(file, guessed(file) if sample is None else sample, findings)
    look = partial(
        scan, prototype=prototype, spread=normalise is not None, access=access, limits=limits
    )
    samples: dict[str, list[str]] = {}
    spreads = {name: Spread() for name in prototype.forms}
    for outcome in run_in_batches(look, files, jobs=jobs):
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
    of = f"{counted(count, 'sample')} in {counted(len(samples), 'file')}"
    head = [f"The fields of {of}, such as {prototype.sample}."]
    text = written(root, notes=notes, head=head)
    return parse(Source("data_schema.yaml", text), limits=DEFAULT.with_(max_depth=DEEPEST))


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
    if spread.not_finite:
        notes[path] += f", {spread.not_finite} not finite"
        message = f"{spread.not_finite} values of {name} are not finite: scale and bias ignore them"
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
