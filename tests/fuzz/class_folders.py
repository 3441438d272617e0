"""Folders of classes, with metadata files: a strategy, and the check of readers and writers."""

import os
from collections.abc import Mapping

from hypothesis import strategies as st

from exset import api
from exset.core.errors import Findings
from exset.core.limits import Limits
from exset.grammars.tables.table import Table
from exset.testing.contract import LIMITS, Broken
from tests.fuzz.disk import attempt
from tests.fuzz.folders import created

_LIMITS: Limits = LIMITS.with_(max_array=1 << 20)
_FILES = {
    "cat/1.jpg": b"\xff\xd8\xff",
    "cat/2.txt": b"",
    "dog/a/3.png": b"x",
    "e\u0301/4.wav": b"RIFF",
    "empty/": b"",
    "cat/.hidden": b"",
    "b@": b"cat",
    "c/5.jpg@": b"cat/1.jpg",
    "c/6.jpg|": b"",
}
_METADATA = {
    "metadata.csv": b"file_name,n,text\ncat/1.jpg,1,a\ndog/a/3.png,,\n",
    "metadata.jsonl": b'{"file_name": "cat/1.jpg", "x": [1, 2]}\n{"file_name": "none.jpg"}\n',
    "metadata.csv|": b"",
    "metadata.csv@": b"cat/1.jpg",
}


@st.composite
def class_folders(draw: st.DrawFn) -> Mapping[str, bytes]:
    """Folders with some files of classes, and perhaps a metadata file."""
    names = draw(st.lists(st.sampled_from(sorted(_FILES)), min_size=1, unique=True))
    more = draw(st.lists(st.sampled_from(sorted(_METADATA)), max_size=1))
    return {**{name: _FILES[name] for name in names}, **{name: _METADATA[name] for name in more}}


def check_class_folder(data: bytes, number: int | None, written: bool) -> bool:
    """Check that a folder is read or refused. written: what is written reads back, too."""
    with created(data) as folder:
        table = attempt("imagefolder", _loaded, folder)
        if table is None:
            return False
        if not written:
            return True
        attempt("contents", _loaded, folder, contents=True)
        out = f"{folder}-out"
        attempt(
            "save", api.save, table, out, format="imagefolder", root=folder, findings=Findings()
        )
        if os.path.exists(out):
            again = attempt("again", _loaded, out)
            if again is None or len(again) != len(table):
                raise Broken("stable", f"{table} is written as {again}")
        return True


def _loaded(folder: str, *, contents: bool = False) -> Table:
    return api.load(
        folder,
        model=Table,
        format="imagefolder",
        contents=contents,
        limits=_LIMITS,
        findings=Findings(),
    )
