"""Sample lists become tables in parts: joined, these are the table of the whole list."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, SampleList, Table
from exset.core.limits import DEFAULT
from exset.grammars.tables import units
from exset.runtime.hdf5.file import File
from exset.runtime.lbann import table_fields
from exset.runtime.lbann.table_chunks import layout_of, tables_of
from tests.lbann import hdf5_lists

FILES: dict[str, dict[str, Any]] = {
    "a.h5": {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "t": "é", "n": np.int16(3)},
    "b.h5": {"x": np.ones((1, 4), np.float32), "t": b"\xff", "img/v": np.zeros(2), "e": []},
    "c.h5": {"x": np.zeros((2, 3), np.float32), "y": np.arange(5), "words": [b"a", b"\xfe"]},
    "d.h5": {"x": np.zeros((2, 3), np.float32), "y": np.arange(5), "words": [b"b"]},
}
IDS = ["r/0", "r/1", "r/2"]
SCHEMAS: dict[str, Any] = {"data": "data.yaml", "experiment": "exp.yaml"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(table_fields, "PART", 600)  # a few samples
    for name, fields in FILES.items():
        hdf5_lists.write(f"d/{name}", IDS, **fields)
    Path("data.yaml").write_text("x:\ny:\n")
    Path("exp.yaml").write_text(
        "x:\n  metadata: {pack: samples}\ny:\n  metadata: {coerce: float}\n"
    )
    Path("labels.txt").write_text("a.h5 3\nd.h5 4\n")
    return tmp_path


def listed(*files: tuple[Any, ...], kind: str = "CONDUIT_HDF5_INCLUSION") -> SampleList:
    return SampleList.of(kind, "d", files)


def parts(chunks: list[SampleList], **options: Any) -> Iterator[Table]:
    how: dict[str, Any] = {"findings": Findings(), "limits": DEFAULT}
    layout = layout_of(chunks, level="meant", **how, **options)
    return tables_of(chunks, layout, **how)


def is_divided(whole: SampleList, chunks: list[SampleList], **options: Any) -> bool:
    """Whether there are several tables; fails unless they are those of the whole list."""
    found = [*parts(chunks, **options)]
    table = exset.to_table(whole, findings=Findings(), **options)
    joined = units.joined(found)
    assert joined == table and joined.names == table.names
    assert all(each.metadata == table.metadata for each in found)
    return len(found) > 1


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from([*FILES]), st.permutations(IDS), st.integers(0, 2)), max_size=6
    ),
    st.integers(0, 6),
)
def test_fields_as_the_files_have_them(files: list[tuple[Any, ...]], cut: int) -> None:
    chunks = [listed(*files[:cut]), listed(*files[cut:])]
    divided = is_divided(listed(*files), chunks)
    assert divided or len(files) < 3


def test_few_values_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_fields, "PART", 1 << 20)
    opened: list[str] = []

    def counted(self: File, path: str, *rest: Any) -> None:
        opened.append(path)
        start(self, path, *rest)

    start = File.__init__
    monkeypatch.setattr(File, "__init__", counted)
    [table] = parts([listed(("a.h5", IDS), ("b.h5", IDS))])
    assert len(table) == 6 and opened == ["d/a.h5", "d/b.h5"]


def test_fields_that_the_schemas_select() -> None:
    files = [(name, IDS[::-1]) for name in ("c.h5", "d.h5")] * 3
    assert is_divided(listed(*files), [listed(), listed(*files)], **SCHEMAS)
    assert is_divided(listed(*files), [listed(*files), listed()], keep_packed=True, **SCHEMAS)


def test_other_lists() -> None:
    excluded = [(name, IDS[:1], 2) for name in FILES]
    kind = "CONDUIT_HDF5_EXCLUSION"
    assert is_divided(
        listed(*excluded, kind=kind),
        [listed(*excluded[:1], kind=kind), listed(*excluded[1:], kind=kind)],
    )
    images = [(name,) for name in FILES]
    one, other = (
        SampleList.of("SINGLE-SAMPLE", "d", some, label_file="labels.txt")
        for some in (images[:1], images[1:])
    )
    assert is_divided(one.concat(other), [one, other])
    numbers = [("a", range(5)), ("b", range(9))]
    kind = "MULTI-SAMPLE_INCLUSION_V2"
    assert is_divided(
        listed(*numbers, kind=kind),
        [listed(*numbers[:1], kind=kind), listed(*numbers[1:], kind=kind)],
    )
    is_divided(listed(), [listed(), listed()])
    assert not is_divided(listed(), [listed()], **SCHEMAS)


def test_paths_that_are_not_utf8_are_bytes_in_all_parts() -> None:
    os.rename("d/a.h5", b"d/\xff.h5")
    bad = ("d/\udcff.h5".removeprefix("d/"), IDS)
    chunks = [listed(("b.h5", IDS)), listed(bad)]
    assert is_divided(listed(("b.h5", IDS), bad), chunks)
    assert next(parts(chunks)).types["file"] == "bytes"


def test_errors_come_before_the_first_table() -> None:
    hdf5_lists.write("d/odd.h5", IDS, x=1.5)
    chunks = [listed(("a.h5", IDS)), listed(("odd.h5", IDS))]
    for call in (lambda: parts(chunks), lambda: exset.to_table(chunks[0].concat(chunks[1]))):
        with pytest.raises(
            FormatError, match="float64 with 0 dimensions here, but float32"
        ) as caught:
            call()
        assert caught.value.code == "hdf5-odd-sample"
    with pytest.raises(ValueError, match="fields"):
        parts(chunks[:1], fields=["y"])


@pytest.mark.parametrize("target", ["x.npz", "x.csv", "x.jsonl", "x.parquet", "x.h5"])
@pytest.mark.parametrize("options", [{}, SCHEMAS])
def test_conversions(target: str, options: dict[str, Any]) -> None:
    """What `convert` writes part by part reads back as the table of the list."""
    if target == "x.parquet":
        pytest.importorskip("pyarrow")
    files = [(name, IDS) for name in ("c.h5", "d.h5")]
    exset.save(listed(*files), "x.sample_list")
    findings: list[list[str]] = []
    for part in (600, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table_fields, "PART", part)
            found = Findings()
            how: dict[str, Any] = {"findings": found, **options}
            if target in ("x.csv", "x.jsonl"):
                how["lossy"] = True
            exset.convert("x.sample_list", f"{part}-{target}", **how)
            findings.append([*map(str, found)])
    assert Path(f"600-{target}").read_bytes() == Path(f"{1 << 30}-{target}").read_bytes()
    assert findings[0] == findings[1]
    if target == "x.npz":
        how = {"findings": Findings(), "level": "said", **options}
        assert exset.load(f"600-{target}") == exset.to_table("x.sample_list", **how)


def test_only_files_below_a_root() -> None:
    exset.save(listed(("a.h5", IDS)), "x.sample_list")
    os.mkdir("other")
    with pytest.raises(FormatError) as caught:
        exset.convert("x.sample_list", "x.npz", root="other")
    assert caught.value.code == "hdf5-roots"
    assert not os.path.exists("x.npz")
