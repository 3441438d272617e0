"""Build a data schema from HDF5 files: the fields of the samples, and how to normalise them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Jobs
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.suggestions import did_you_mean
from exset.core.text import counted
from exset.grammars.columns.tree import DEEPEST
from exset.grammars.lbann.schema import Directive, Node, Path, Schema
from exset.io.access import DEFAULT_ACCESS, Access
from exset.parsers.lbann.schema import parse
from exset.parsers.lbann.schema_text import written
from exset.runtime.hdf5.file import DataType
from exset.runtime.lbann.hdf5_prototype import Prototype, find_prototype
from exset.runtime.lbann.hdf5_search import Search, results_of, run_search
from exset.runtime.reports.statistics import Spread

Normalise: TypeAlias = Literal["range", "unit"]
"""The target of scale and bias: "range" is 0 to 1, "unit" is mean 0 and deviation 1."""

STEP = 10
"""The distance between two orderings, so that users can insert others."""

_NAMES_SHOWN = 12
FLOATS = ("float32", "float64")
"""The dtypes that LBANN reads without a warning."""


@dataclass(frozen=True)
class Built:
    """The data schema of some files, and the results of building it.

    prototype: the structure of the samples. samples: the number of samples. files: the number of
    files that have samples.
    """

    schema: Schema
    prototype: Prototype
    samples: int
    files: int
    findings: Findings

    @property
    def text(self) -> frozenset[str]:
        """The names of the fields that contain text."""
        return frozenset(n for n, each in self.prototype.fields.items() if each.kind == "text")


def build(
    files: Sequence[str],
    sample: str | None = None,
    *,
    normalise: Normalise | None = None,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: Jobs = 1,
) -> Built:
    """Return a data schema of the samples in files.

    sample: the path of the prototype in the first file that can be read; by default a sample with
    the most frequent structure. normalise: add scale and bias; for this, all values are read. Files
    that cannot be read give findings. If no file has a sample, raises the FormatError or OSError of
    the first file. Raises ValueError without files.
    """
    if not files:
        raise ValueError("files must not be empty")
    findings = Findings()
    prototype = find_prototype(
        files, findings, sample=sample, access=access, limits=limits, jobs=jobs
    )
    search = Search(prototype, spread=normalise is not None, access=access, limits=limits)
    samples = with_samples = 0
    spreads = {name: Spread() for name in prototype.fields}
    outcomes = run_search(search, files, jobs=jobs)
    for path, result in results_of(outcomes, "hdf5-odd-sample", findings):
        samples += len(result.samples)
        with_samples += bool(result.samples)
        for name, spread in result.spreads.items():
            spreads[name].add(spread)
        if not result.samples:
            message = f"the file has no sample like {prototype.sample}"
            findings.add(Finding("hdf5-no-sample", Severity.WARNING, message, Place(path)))
    count = samples, with_samples
    schema = data_schema(prototype, count, findings, spreads=spreads, normalise=normalise)
    return Built(schema, prototype, *count, findings)


def experiment(
    data: Schema,
    packs: Iterable[tuple[str, str]] = (),
    *,
    text: Collection[str] = (),
    findings: Findings | None = None,
) -> Schema:
    """Return an experiment schema for a data schema.

    packs: pairs of a packed group and a path, such as ("samples", "inputs"). All fields at or below
    the path go into the group, as float. Without packs, each field is an array of its own. text:
    the names of fields that contain text; these are left out, with a finding. Raises FormatError
    for a path that the data schema does not have, or that has only text.
    """
    findings = Findings() if findings is None else findings
    chosen = [(group, tuple(filter(None, path.split("/")))) for group, path in packs]
    root = Node() if chosen else Node({name: Node() for name in data.root.children})
    for group, path in chosen:
        node = data.root.find(path)
        if not path or node is None:
            raise _unknown(data, group, "/".join(path))
        root = with_metadata(root, path, {"pack": Directive(group), "coerce": Directive("float")})
        fields = {"/".join(field): field for field, _ in node.leaves(path)}
        skipped = [name for name in fields if name in text]
        if len(skipped) == len(fields):
            raise FormatError(f"{'/'.join(path)} contains only text", code="schema-pack")
        for name in fields if skipped else ():
            if name not in text:
                root = with_metadata(root, fields[name], {})
        for name in skipped:
            message = f"{name} is left out of the packed group {group}, because it is text"
            findings.add(Finding("schema-text", Severity.WARNING, message))
    return Schema(root)


def _unknown(data: Schema, group: str, path: str) -> FormatError:
    """Return the error for a packed path that the data schema does not have."""
    names = ["/".join(names) for names, _ in data.root.nodes() if names]
    message = f"the data schema has no {path!r} to pack into {group!r}"
    parts = [part for part in path.split(",") if part in names]
    if len(parts) > 1:
        options = " ".join(f"--pack {group}={part}" for part in parts)
        pairs = ", ".join(repr((group, part)) for part in parts)
        hint = f"name one path at a time: <{options} or [{pairs}]>"
    else:
        hint = did_you_mean(path, names) or f"name one of {', '.join(names[:_NAMES_SHOWN])}"
    return FormatError(message, hint=hint, code="schema-unknown-field")


def data_schema(
    prototype: Prototype,
    count: tuple[int, int],
    findings: Findings,
    *,
    spreads: Mapping[str, Spread] | None = None,
    normalise: Normalise | None = None,
) -> Schema:
    """Return the data schema of samples with the structure of a prototype.

    count: the number of samples, and the number of files with samples. spreads: statistics of each
    field, for `normalise`.
    """
    root = Node()
    spreads = {name: Spread() for name in prototype.fields} if spreads is None else spreads
    notes: dict[Path, str] = {}
    for number, (name, stored) in enumerate(prototype.fields.items(), 1):
        path = tuple(name.split("/"))
        kind = "" if stored.dtype in FLOATS else "not a float"
        notes[path] = ", ".join(filter(None, (str(stored), kind, spreads[name].text())))
        metadata = {"ordering": Directive(number * STEP)}
        if len(stored.shape) > 1:
            metadata |= {"dims": Directive(tuple(stored.shape)), "channels": Directive(1)}
        if normalise is not None and stored.kind == "number":
            metadata |= _normalised(name, stored, spreads[name], normalise, findings)
        root = with_metadata(root, path, metadata)
    samples, files = count
    of = f"{counted(samples, 'sample')} in {counted(files, 'file')}"
    head = [f"The fields of {of}; one sample is {prototype.sample}."]
    text = written(root, notes=notes, head=head)
    return parse(Source("data_schema.yaml", text), limits=DEFAULT.with_(max_depth=DEEPEST))


def _normalised(
    name: str, stored: DataType, spread: Spread, normalise: Normalise, findings: Findings
) -> dict[str, Directive]:
    """Return the directives that normalise the field `name`. Return {} if all its values are equal.

    stored: the field's type in the files. spread: the statistics of its values.
    """
    if spread.not_finite:
        ignored = counted(spread.not_finite, "infinite or NaN value")
        message = f"scale and bias of {name} ignore {ignored}"
        findings.add(Finding("schema-not-finite", Severity.WARNING, message))
    line = spread.to_range() if normalise == "range" else spread.to_unit()
    if line is None:
        message = f"all values of {name} are equal: it gets no scale and no bias"
        findings.add(Finding("schema-constant", Severity.WARNING, message))
        return {}
    metadata = {"scale": Directive(line[0]), "bias": Directive(line[1])}
    if stored.dtype not in FLOATS:
        metadata["coerce"] = Directive("float")
    return metadata


def with_metadata(root: Node, path: Path, metadata: Mapping[str, Directive]) -> Node:
    """Return a copy of the tree `root` in which the node at a path also has these directives."""
    if not path:
        return Node(root.children, {**root.metadata, **metadata})
    below = with_metadata(root.children.get(path[0], Node()), path[1:], metadata)
    return Node({**root.children, path[0]: below}, root.metadata)
