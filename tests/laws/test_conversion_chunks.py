"""A conversion in chunks gives what the conversion of the whole file gives, with its findings."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import exset
from exset import ExampleSet, Findings, FormatError, Table, formats, rereading, samples, streaming
from exset.core.protocols import Level
from exset.families.format import Format
from exset.families.tables import TABLE
from exset.runtime.tables import arrow_chunks, flat_chunks, flat_stream, hdf5_stream, shard_plan
from exset.testing.lens import dense_sets
from exset.testing.tables import tables

TARGETS = [
    fmt
    for fmt in formats.FORMATS
    if fmt.family == TABLE and (fmt.chunk_writer is not None or fmt.option("shard_size"))
]

SOURCES = [fmt for fmt in formats.FORMATS if fmt.family == TABLE and fmt.streamer is not None]

sources = pytest.mark.parametrize("source", SOURCES, ids=lambda fmt: fmt.name)
KEPT = (0, 300, rereading.KEPT)
"""How many bytes of chunks stay in memory."""

targets = pytest.mark.parametrize("target", TARGETS, ids=lambda fmt: fmt.name)


def converted(
    source: Path,
    target: Format,
    block: int | None,
    level: Level | None = None,
    *,
    kept: int = 0,
    lossy: bool = False,
) -> tuple[object, list[str], dict[str, bytes]]:
    """Return the number of units or the error, the findings, and the files.

    `block`: convert the file in chunks of about so many bytes, however small it is; `kept` bytes of
    chunks may stay in memory.
    """
    findings = Findings()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if block is not None:
            patch.setattr(streaming, "SMALL", -1)
            patch.setattr(streaming, "_BLOCK", block)
            patch.setattr(rereading, "KEPT", kept)
            patch.setattr(flat_stream, "SMALL", -1)
            patch.setattr(flat_stream, "CHUNK", 40)  # a few rows
            patch.setattr(hdf5_stream, "SMALL_GROUPS", -1)
        path = Path(folder, f"x{target.suffix}")
        convert = partial(exset.convert, shard_size="2kB") if target.is_folder else exset.convert
        try:
            outcome: object = convert(
                source, path, to=target.name, findings=findings, level=level, lossy=lossy
            )
        except FormatError as error:
            outcome = str(error)
        files = {str(each): each.read_bytes() for each in Path(folder).rglob("*") if each.is_file()}
        contents = {name[len(folder) :]: data for name, data in files.items()}
    return outcome, [*map(str, findings)], contents


@targets
@pytest.mark.parametrize(
    ("name", "level"),
    [("xor-events.ex", "meant"), ("groups.ex", "said"), ("xor-binary.bex", "meant")],
)
def test_samples(name: str, level: Level, target: Format, tmp_path: Path) -> None:
    source = tmp_path / name
    source.write_bytes(samples.read(name).data)
    whole = converted(source, target, None, level=level)
    for kept in KEPT:
        assert converted(source, target, 200, level=level, kept=kept) == whole


@targets
@settings(max_examples=3, phases=set(Phase) - {Phase.shrink, Phase.explain})
@given(
    examples=dense_sets(),
    block=st.integers(40, 1000),
    level=st.sampled_from(["meant", "said"]),
    kept=st.sampled_from(KEPT),
)
def test_any_set(target: Format, examples: ExampleSet, block: int, level: Level, kept: int) -> None:
    with TemporaryDirectory() as folder:
        source = Path(folder, "x.ex")
        exset.save(examples, source, lossy=True, findings=Findings())
        whole = converted(source, target, None, level=level)
        assert converted(source, target, block, level=level, kept=kept) == whole


@sources
@settings(max_examples=5, phases=set(Phase) - {Phase.shrink, Phase.explain})
@given(
    table=tables(max_rows=8),
    target=st.sampled_from(TARGETS),
    lossy=st.booleans(),
    kept=st.sampled_from(KEPT),
)
def test_any_table(source: Format, table: Table, target: Format, lossy: bool, kept: int) -> None:
    lossy = lossy and target.option("lossy") is not None
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for module in (arrow_chunks, flat_chunks):
            patch.setattr(module, "_BATCH", 40)  # a few rows
        patch.setattr(shard_plan, "DEFAULT_SIZE", 100)
        path = Path(folder, f"x{source.suffix}")
        try:
            options: dict[str, Any] = {"lossy": True} if source.option("lossy") else {}
            exset.save(table, path, format=source.name, findings=Findings(), **options)
        except FormatError:
            assume(source.option("lossy") is None)  # some columns, or none, can be stored
            raise
        whole = converted(path, target, None, lossy=lossy)
        assert converted(path, target, 1, lossy=lossy, kept=kept) == whole
        if not target.is_folder and not isinstance(whole[0], str):
            (data,) = (each for name, each in whole[2].items() if not name.endswith(".json"))
            chosen: dict[str, Any] = {"lossy": True} if lossy else {}
            read = exset.load(path, format=source.name, findings=Findings())
            assert exset.dumps(read, format=target.name, findings=Findings(), **chosen) == data


@pytest.mark.parametrize(
    ("target", "name", "values", "last"),
    [
        ("mds", "lists", [[1], [2, 3]], []),
        ("webdataset-shards", "__key__", ["a", "b"], "b"),
    ],
)
def test_errors_name_the_row(
    target: str, name: str, values: list[object], last: object, tmp_path: Path
) -> None:
    """A value that a format cannot hold has its row in the table, not in its chunk."""
    pytest.importorskip("pyarrow")
    source = tmp_path / "x.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow_chunks, "_BATCH", 40)
        exset.save(Table.of({name: [*values * 50, last]}), source)
    outcome, *_ = converted(source, formats.get(target), 1)
    assert f"columns[{name!r}][100]" in str(outcome)
