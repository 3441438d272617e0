"""Hypothesis strategies for tables of the paths and labels of files."""

import numpy as np
from hypothesis import strategies as st

from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, text_or_bytes
from exset.grammars.tables.labels import labelled
from exset.grammars.tables.table import Table

_PARTS = st.binary(min_size=1, max_size=6).map(
    lambda raw: bytes(each for each in raw if each not in b"\n\r\t\v\f\0/ .") or b"x"
)
_PATHS = st.tuples(_PARTS, st.sampled_from([b"/1.jpg", b".png", b"/a/b.wav", b" x.jpg"])).map(
    b"".join
)
_FLOATS = st.floats(width=32, allow_nan=False)


@st.composite
def labelled_files(draw: st.DrawFn, *, max_files: int = 6) -> Table:
    """Draw a table of paths and labels."""
    paths = draw(st.lists(_PATHS, max_size=max_files))
    labels = [draw(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 9)) for _ in paths]
    return labelled(text_or_bytes(Strings.of(paths)), Numbers.of(np.array(labels, np.int64)))


@st.composite
def indexed_files(draw: st.DrawFn, *, max_files: int = 6) -> Table:
    """Draw a table of paths, each with an index and with one or several labels."""
    table = draw(labelled_files(max_files=max_files))
    rows = table.rows
    index = np.array([draw(st.integers(-(2**63), 2**63 - 1)) for _ in range(rows)], np.int64)
    labels = table.columns["label"]
    if rows and draw(st.booleans()):
        several = [draw(st.lists(_FLOATS, min_size=1, max_size=3)) for _ in range(rows)]
        several[0] = [0.5, *several[0]]
        lengths = np.array([len(each) for each in several], np.int64)
        values = np.array([value for each in several for value in each], np.float32)
        labels = Lists.of(Numbers.of(values), lengths)
        if (lengths == lengths[0]).all():
            labels = Numbers.of(values.reshape(rows, -1))
    columns = {"index": Numbers.of(index), "label": labels, "path": table.columns["path"]}
    return Table(columns, rows, table.metadata)


@st.composite
def folders(draw: st.DrawFn, *, max_files: int = 6) -> Table:
    """Draw folders of classes, as a table of the paths and contents of the files.

    The files are in the order of their names, as a folder lists them.
    """
    classes = sorted(draw(st.sets(st.sampled_from(["cat", "dog", "\xe9", "a b"]), min_size=1)))
    sizes = [draw(st.integers(1, max_files)) for _ in classes]
    labels = np.repeat(np.arange(len(classes)), sizes).astype(np.int64)
    paths = [f"{classes[label]}/{row:03}.jpg" for row, label in enumerate(labels.tolist())]
    table = labelled(text_or_bytes(Strings.of(paths)), Numbers.of(labels), classes)
    contents = Strings.of(draw(st.binary(max_size=9)) for _ in paths)
    renamed = table.renamed({"path": "file.path"})
    columns = {"file": contents, **renamed.columns}
    return Table(columns, table.rows, {**table.metadata, "files": ["file.path"]})
