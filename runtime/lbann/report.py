"""Report contents of sample lists and schemas, for `exset info` and `exset stats`."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from exset.core.text import counted, size
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.list_ids import overlaps
from exset.grammars.lbann.sample_list import SampleList, duplicate_files
from exset.grammars.lbann.schema import METADATA, Schema, path_text
from exset.grammars.lbann.units import joined
from exset.runtime.reports.report import Report, limits_of, memory_of, some

SHOWN = 12
"""The most packed groups that are shown to people."""


def sample_cells(samples: SampleList, index: int) -> list[tuple[str, object]]:
    """Return the file and the id of a sample."""
    return [*zip(("file", "id"), samples[index], strict=True)]


def field_cells(schema: Schema, index: int) -> list[tuple[str, object]]:
    """Return the path of a field and its own directives."""
    path, node = schema[index]
    directives = ", ".join(f"{name}: {each.value!r}" for name, each in node.metadata.items())
    return [("field", path_text(path)), ("directives", directives)]


def sample_list(chunks: Iterable[SampleList], detailed: bool = False) -> Report:
    """Report the counts of a list that is read in chunks. The files that it names are not read.

    detailed: add counts that need more time, such as the number of files with a repeated id.
    """
    model = joined(chunks)
    files, samples, excluded = len(model.name), len(model), model.computed.excluded
    low, high = limits_of(model.included)
    repeated = int((duplicate_files(model) != np.arange(files)).sum()) if files else 0
    ranges = len(model.ids) if model.has_integer_ids else None
    directory, memory = _text(model.directory), memory_of(model)
    label_file = None if model.label_file is None else _text(model.label_file)
    made = Report()
    made.add(list_type=model.kind.value, directory=directory, label_file=label_file)
    made.add(ids="text" if ranges is None else "integer", samples=samples, excluded=excluded)
    made.add(files=files, samples_each=(low, high), repeated_files=repeated, spans=ranges)
    made.add(memory=memory)
    made.row("type", model.kind.value)
    made.row("directory", directory)
    share = f" ({excluded / max(samples + excluded, 1):.1%})" if detailed else ""
    made.row("samples", f"{samples:,}", f"{excluded:,} excluded{share}")
    each = f"{low:,} to {high:,} samples each" if low != high else f"{counted(high, 'sample')} each"
    made.row("files", f"{files:,}", each if files else "")
    made.row("", some(repeated, "named again"))
    if label_file is not None:
        made.row("label file", label_file or "none")
    made.row("ids", "text" if ranges is None else f"whole numbers in {counted(ranges, 'range')}")
    made.row("memory", size(memory))
    if detailed:
        _details(made, model)
    return made


def _details(made: Report, model: SampleList) -> None:
    median = float(np.median(model.included)) if model.included.size else 0.0
    folders = len({(name or b"").rpartition(b"/")[0] for name in model.name})
    if isinstance(model.ids, Spans):
        repeating = overlaps(model.ids, model.id_offsets).size
        ids, unit = model.ids, ""
        bounds = (int(ids.first.min()), int(ids.last.max())) if len(ids) else (0, 0)
    else:
        of_files = map(model.ids_of, range(len(model.name)))
        repeating = sum(len(set(ids)) < len(ids) for ids in of_files)
        bounds, unit = limits_of(model.ids.lengths), " bytes"
    made.add(median=median, folders=folders, repeating=repeating, id_bounds=list(bounds))
    made.row("per file", f"{median:g} samples (median)")
    made.row("folders", f"{folders:,}")
    label = "id range" if model.has_integer_ids else "id length"
    made.row(label, f"{bounds[0]:,} to {bounds[1]:,}{unit}")
    made.row("repeating", f"{counted(repeating, 'file')} with a repeated id")


def schema(model: Schema, detailed: bool = False) -> Report:
    """Report the counts of a schema; `detailed` adds nothing."""
    nodes = dict(model.root.nodes())
    groups = sum(bool(node.children) for node in nodes.values()) - bool(model.root.children)
    described = [node.metadata for node in nodes.values() if node.metadata]
    directives = Counter(name for metadata in described for name in metadata)
    packs = (str(metadata["pack"].value) for metadata in described if "pack" in metadata)
    depth, common = max(map(len, nodes)), dict(directives.most_common())
    packed = list(dict.fromkeys(packs))
    made = Report()
    made.add(fields=len(model), groups=groups, depth=depth, nodes_with_metadata=len(described))
    made.add(directives=common, packed=tuple(packed))
    made.row("fields", f"{len(model):,}")
    made.row("groups", f"{groups:,}", f"at most {depth} deep")
    made.row(METADATA, f"{len(described):,} nodes")
    made.row("directives", *(f"{name} {count}" for name, count in common.items()))
    more = len(packed) - SHOWN
    made.row("packed", *packed[:SHOWN], f"and {more} more" if more > 0 else "")
    return made


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
