"""Hypothesis strategies for sample lists that LBANN accepts, with unusual names, ids and counts."""

from typing import Literal

import numpy as np
from hypothesis import strategies as st

from exset.grammars.lbann.list_files import File
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList

_BLANKS = frozenset(b" \t\n\v\f\r")


def words() -> st.SearchStrategy[bytes]:
    """Return a strategy for names and ids: one or more bytes without blanks."""
    rare = st.binary(min_size=1, max_size=6).map(
        lambda raw: bytes(byte for byte in raw if byte not in _BLANKS) or b"x"
    )
    common = st.sampled_from(
        [b"a.h5", b"/b.h5", b"#", b"...", b"1", b"-2", b"RUN/003", b"s\xc2\xa0t", b"\0"]
    )
    return common | rare


@st.composite
def sample_lists(
    draw: st.DrawFn,
    *,
    kind: Kind | None = None,
    ids: Literal["text", "integer"] | None = None,
    max_files: int = 5,
) -> SampleList:
    """Draw a sample list, of a given or any kind and type of ids."""
    kinds = [each for each in Kind if not (ids == "integer" and each.is_exclusion)]
    kind = draw(st.sampled_from(kinds)) if kind is None else kind
    names = draw(st.lists(words(), max_size=max_files, unique=not kind.is_single))
    sort = ids or draw(st.sampled_from(["text", "integer"]))
    integers = sort == "integer" and not kind.is_exclusion
    files = [File(name) for name in names]
    if not kind.is_single:
        others = st.integers(0, 5) | st.integers(0, 2**50) if kind.has_excluded else st.just(0)
        numbers = st.lists(st.integers(-3, 12) | st.integers(-(2**62), 2**62), max_size=6)
        texts = st.lists(words(), max_size=6, unique=kind.is_exclusion)
        files = [
            File(name, draw(numbers) if integers else draw(texts), draw(others)) for name in names
        ]
    label_file = draw(st.just(b"") | words()) if kind.has_label_file else None
    made = SampleList.of(kind, draw(words()), files, label_file=label_file)
    return made.with_integer_ids() if integers and not len(made.ids) else made


def repeated(samples: SampleList) -> SampleList:
    """Return the list with all files named twice and no excluded samples, as LBANN accepts it."""
    whole = samples.with_columns(others=np.zeros(len(samples.name), np.uint64))
    return whole.concat(whole)
