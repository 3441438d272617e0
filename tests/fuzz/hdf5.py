"""Hypothesis strategies for HDF5 files of samples, and for folders with lists of them."""

import io
from collections.abc import Mapping
from typing import Final

import h5py
import numpy as np
from hypothesis import strategies as st

import exset
from exset.core.errors import Findings
from exset.grammars.lbann.list_files import File
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.schema import Directive, Node, Schema
from exset.parsers.lbann.schema_text import render

_VALUES: Final = {
    "x": np.arange(6, dtype=np.float32).reshape(2, 3),
    "n": np.int64(7),
    "y": np.arange(4, dtype=">i2"),
    "g/z": np.array([1.5, np.nan, -np.inf]),
    "t": "text",
    "u": np.array([b"ab", b"c"]),
    "none": np.empty(0, np.uint8),
}
_LIBRARIES: Final = ("earliest", "latest")


@st.composite
def hdf5_files(draw: st.DrawFn, *, samples: tuple[str, ...] = (), unusual: bool = True) -> bytes:
    """Draw a small HDF5 file of samples, in the oldest or newest version of the format.

    samples: their names, drawn by default. unusual: include links, filters and varying fields.
    """
    runs = draw(st.sampled_from([("a", "b"), ("r/1", "r/2"), ("s",), ("r/1", "q/1", "r/2")]))
    names = samples or runs
    fields = draw(st.lists(st.sampled_from(sorted(_VALUES)), min_size=1, max_size=4, unique=True))
    if not unusual:
        fields = ["x", "n"]
    ordered = draw(st.booleans())
    options: dict[str, object] = draw(
        st.sampled_from([{}, {"compression": "gzip"}, {"chunks": True}, {"fletcher32": True}])
    )
    out = io.BytesIO()
    library = draw(st.sampled_from(_LIBRARIES))
    with h5py.File(out, "w", libver=library, track_order=ordered) as file:
        for name in names:
            group = file.create_group(name, track_order=ordered)
            for field in fields:
                value = _VALUES[field]
                has_chunks = isinstance(value, np.ndarray) and value.size
                group.create_dataset(field, data=value, **options if has_chunks else {})
        if unusual and draw(st.booleans()):
            _add(draw(st.sampled_from(["soft", "far", "hard", "external", "pair"])), file, names[0])
    return out.getvalue()


def _add(kind: str, file: h5py.File, sample: str) -> None:
    """Add a rare object."""
    match kind:
        case "soft":
            file["soft"] = h5py.SoftLink(f"/{sample}/x")
        case "far":
            file["far"] = h5py.ExternalLink("b.h5", "/")
        case "hard":
            file[f"{sample}/up"] = file["/"]
        case "external":
            file.create_dataset("external", (3,), np.int32, external=[("a.raw", 0, 12)])
        case _:
            file[f"{sample}/pair"] = np.zeros(2, [("a", "i4"), ("b", "f8")])


@st.composite
def listed_folders(draw: st.DrawFn) -> Mapping[str, bytes]:
    """Draw a folder: a sample list of any kind, its files, and two schemas."""
    kind = draw(st.sampled_from(Kind))
    names = ("a", "b", "r/1") if not kind.is_exclusion else ("a", "b", "c")
    contents, rows = {}, []
    for path in draw(st.sampled_from([("a.h5",), ("a.h5", "sub/b.h5")])):
        contents[f"d/{path}"] = draw(hdf5_files(samples=names, unusual=draw(st.booleans())))
        ids = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
        rows.append(File(path, *(() if kind.is_single else (ids, len(names) - len(ids)))))
    if kind is Kind.MULTI_SAMPLE_INCLUSION_V2:
        rows = [File(row.name, row.ids) for row in rows]
    labels = draw(st.sampled_from(["", "labels.txt"])) if kind.has_label_file else None
    listed = SampleList.of(kind, "d", rows, label_file=labels)
    contents["x.sample_list"] = exset.dumps(listed, findings=Findings())
    if labels:
        contents[labels] = b"a.h5 1\nsub/b.h5 -2\n"
    scale = {"scale": Directive(0.5), "bias": Directive(1), "coerce": Directive("float")}
    pack = {"pack": Directive("samples"), "ordering": Directive(3)}
    contents["data.yaml"] = render(
        Schema(Node({"x": Node(metadata=draw(st.sampled_from([{}, scale]))), "n": Node()}))
    )
    contents["experiment.yaml"] = render(
        Schema(Node({"x": Node(metadata=draw(st.sampled_from([{}, pack]))), "n": Node()}))
    )
    return contents
