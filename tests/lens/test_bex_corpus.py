"""Binary files that Lens wrote, compared with dumps of what Lens had in memory."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exset.codecs.lens.bex import decode, encode
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.source import Source
from tests.lens.bex_builder import attempt
from tests.lens.dump import from_dump, to_plain


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def dumped(stem: Path) -> dict[str, object]:
    """The dump beside a file, given its path without suffixes."""
    path = stem.with_name(f"{stem.name}.json")
    return from_dump(content(path if path.exists() else path.with_name(f"{path.name}.gz")))


def name_as_written(raw: str | None) -> str | None:
    """The name that Lens writes: the low byte of each character; an empty name is absent."""
    if raw is None:
        return None
    low = bytes(ord(char) & 0xFF for char in raw)
    return low.decode("utf-8", "surrogateescape") or None


def test_files_that_lens_saved(corpus: Path, engine: Engine, largest: float) -> None:
    """Each file has the same values and sharing, and is written with the same bytes."""
    paths = sorted((corpus / "lens/oracle").rglob("*.bex.gz"))
    assert len(paths) > 100
    for path in paths:
        data = content(path)
        if len(data) > largest:
            continue
        found = decode(Source(path.name, data), engine=engine)
        assert encode(found, engine=engine) == data, path
        assert to_plain(found) == dumped(path.with_name(path.name.removesuffix(".bex.gz"))), path


# Cases whose saved file Lens itself does not load.
UNREADABLE = {
    "ex_freq_neg": "example_frequency",
    "lex_nul": "example_numEvents",  # the port writes U+0000 as C0 80, cut to 80
}


def test_edge_cases_that_lens_saved(corpus: Path, engine: Engine) -> None:
    paths = sorted((corpus / "lens/edge").glob("*.out.bex")) + sorted(
        (corpus / "lens/edge/manual").glob("*.bex")
    )
    assert len(paths) > 80
    for path in paths:
        stem = path.name.removesuffix(".bex").removesuffix(".out")
        data = path.read_bytes()
        if stem in UNREADABLE:
            with pytest.raises(FormatError, match=UNREADABLE[stem]):
                decode(Source(path.name, data), engine=engine)
            continue
        found = decode(Source(path.name, data), engine=engine)
        assert encode(found, engine=engine) == data, path
        expected = dumped(path.with_name(stem))
        for example in expected["examples"]:  # type: ignore[attr-defined]
            example["name"] = name_as_written(example["name"])
        assert to_plain(found) == expected, path


def verdicts(corpus: Path) -> Iterator[tuple[str, bool]]:
    with open(corpus / "lens/edge/verdicts.tsv", encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["file"].startswith("bin_"):
                yield row["file"], row["verdict"] == "accept"


def test_binary_edge_cases(corpus: Path, engine: Engine) -> None:
    """The verdicts of Lens, for which a hang is a rejection, and the same memory."""
    rows = list(verdicts(corpus))
    assert len(rows) == 23
    for name, accepted in rows:
        path = corpus / "lens/edge" / name
        source = Source(name, path.read_bytes())
        if not accepted:
            with pytest.raises(FormatError):
                decode(source, findings=Findings(), engine=engine)
            continue
        found = decode(source, findings=Findings(), engine=engine)
        assert to_plain(found) == dumped(path.with_suffix("")), name
        saved = path.with_suffix(".out.bex").read_bytes()
        if name != "bin_utf8_name.bex":  # the port cuts each character to its low byte
            assert encode(found, engine=engine) == saved, name


@settings(max_examples=5)
@given(st.data())
def test_truncated_files_of_the_corpus(corpus: Path, data: st.DataObject) -> None:
    paths = sorted((corpus / "lens/oracle").rglob("*.bex.gz"))
    raw = content(data.draw(st.sampled_from(paths)))[:3000]
    for end in range(0, len(raw), 7):
        attempt(raw[:end])
