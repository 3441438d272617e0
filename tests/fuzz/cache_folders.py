"""Hypothesis strategies for folders of manifests and caches."""

import os
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from exset.core.errors import FormatError
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.parsers.aeon.manifest_text import render
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_plan import Plan
from exset.testing.aeon import manifests
from tests.fuzz.folders import joined_from, separated

_FILES = {"a.jpg": b"\xff\xd8\xff", "c/d.txt": b"text", "empty": b"", "c/e.png": b"\x89PNG\r\n"}
_FIELDS: Mapping[ElementType, Sequence[str | int]] = {
    ElementType.FILE: sorted(_FILES),
    ElementType.ASCII_INT: [0, -5, 2**31 - 1],
    ElementType.ASCII_FLOAT: ["0.5", "nan", "-inf"],
    ElementType.STRING: ["one", "two #"],
    ElementType.BINARY: ["AAEC/w==", "QQ=="],
}
_LEFT = {
    "caching_in_progress": b"",
    ".exset-journal": b'{"plan": [["STRING"], "", 2, 3], "done": [0]}',
    ".exset-0123456789abcdef": b"",
    "caching_in_progress.0123456789abcdef": b'{"pid": 1, "host": "x", "start": ""}',
    "notes.txt": b"",
    "caching_in_progress|": b"",
    ".exset-journal|": b"",
    "cache_complete@": b"a.jpg",
    "block_0.cpio@": b"c/d.txt",
    "block_1.cpio/": b"",
    "block_00.cpio": b"",
}
"""Other files in the folder of a cache: left by builders or people, or made to do harm."""


@st.composite
def manifest_folders(draw: st.DrawFn) -> Mapping[str, bytes]:
    """Folders with `manifest.tsv`, and files that it may name."""
    manifest = draw(manifests(dialect=Dialect.HEAD) | _good())
    return {"manifest.tsv": render(manifest), **_FILES}


@st.composite
def cache_folders(draw: st.DrawFn) -> Mapping[str, bytes]:
    """Folders with `manifest.tsv`, the files that it names, and its cache, perhaps damaged."""
    manifest = draw(_good(least=1))
    contents = {"manifest.tsv": render(manifest), **_FILES}
    with TemporaryDirectory() as folder:
        for name, data in _FILES.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        plan = Plan.of(manifest, base=folder, block_size=draw(st.integers(1, 3)))
        try:
            built = build(plan, folder, clock=lambda: 0.0)
        except FormatError:
            return contents
        cache = {
            f"{plan.folder}/{os.fsdecode(name)}": data
            for name, data in separated(joined_from(built.folder))
        }
    path = draw(st.sampled_from([b"a.jpg", b"a.jpg", b"../a.jpg", b"c/../../d", b"manifest.tsv"]))
    contents["manifest.tsv"] = contents["manifest.tsv"].replace(b"a.jpg", path)
    lost = draw(st.lists(st.sampled_from(sorted(cache)), max_size=1))
    left = draw(st.lists(st.sampled_from(sorted(_LEFT)), max_size=2, unique=True))
    more = {f"{plan.folder}/{name}": _LEFT[name] for name in left}
    return {**{name: data for name, data in cache.items() if name not in lost}, **contents, **more}


@st.composite
def _good(draw: st.DrawFn, least: int = 0) -> Manifest:
    """Manifests for which exset can build a cache."""
    types = draw(st.lists(st.sampled_from(ElementType), min_size=1, max_size=3))
    record = st.tuples(*(st.sampled_from(_FIELDS[kind]) for kind in types))
    return Manifest.of(types, draw(st.lists(record, min_size=least, max_size=5)))
