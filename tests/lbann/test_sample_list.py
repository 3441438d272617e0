"""Sample lists: their meaning, findings, errors, and properties of all lists and bytes."""

import pickle
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, LimitError, Limits
from exset.core.source import Source
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.parsers.lbann.list_text import render
from exset.parsers.lbann.sample_list import parse
from exset.testing import sample_lists
from tests.peaks import at_most

INCLUSION = b"CONDUIT_HDF5_INCLUSION\n%d %d %d\ndata\n%s"
V2 = b"MULTI-SAMPLE_INCLUSION_V2\n%d %d\ndata\n%s"


def read(
    text: bytes, ids: str | None = None, findings: Findings | None = None, **limits: int
) -> SampleList:
    return parse(Source("x", text), ids=ids, findings=findings, limits=Limits(**limits))


def sort_of(samples: SampleList) -> str:
    return "integer" if samples.has_integer_ids else "text"


def codes(text: bytes, ids: str | None = "text") -> list[str]:
    findings = Findings()
    read(text, ids, findings)
    return [finding.code for finding in findings]


@given(sample_lists())
def test_text_reads_back(samples: SampleList) -> None:
    text = render(samples)
    again = read(text, sort_of(samples))
    assert again == samples
    assert render(again) == text
    assert read(render(samples, expand=True), sort_of(samples)) == samples or len(samples) > 1000


@given(sample_lists())
def test_the_engines_agree(samples: SampleList) -> None:
    source, ids = Source("x", render(samples)), sort_of(samples)
    for engine in ("reference", "table"):
        assert parse(source, ids=ids, engine=engine) == samples


@given(sample_lists(), st.data())
def test_select_agrees_with_pairs(samples: SampleList, data: st.DataObject) -> None:
    if samples.kind.is_exclusion:
        return
    pairs = list(samples.pairs())
    assert len(pairs) == len(samples)
    which = data.draw(
        st.lists(st.integers(0, len(pairs) - 1), max_size=9) if pairs else st.just([])
    )
    chosen = samples.select(which)
    expected = [pairs[i] for i in which]
    if samples.kind.is_single:
        assert [path for path, _ in chosen] == [path for path, _ in expected]
        return
    order = list(dict.fromkeys(path for path, _ in expected))
    assert list(chosen) == sorted(expected, key=lambda pair: order.index(pair[0]))
    assert read(render(chosen), sort_of(chosen)) == chosen


@given(sample_lists())
def test_selecting_all_samples(samples: SampleList) -> None:
    if len(samples) > 1000:
        return
    whole = samples.select(slice(None))
    assert len(whole) == len(samples)
    assert whole == samples.select_files(samples.included > 0)


@given(sample_lists(ids="text"), sample_lists(ids="text"))
def test_concat(one: SampleList, two: SampleList) -> None:
    two = two.with_unchecked(kind=one.kind, directory=one.directory, label_file=one.label_file)
    both = one.concat(two)
    assert both.select_files(slice(len(one.name))) == one
    assert both.select_files(slice(len(one.name), None)) == two


@given(sample_lists(ids="integer"))
def test_integer_ids_to_text_and_back(samples: SampleList) -> None:
    if max(map(abs, samples.ids.first.tolist() if len(samples.ids) else [0])) < 10**18:  # type: ignore[union-attr]
        assert samples.with_text_ids().with_integer_ids() == samples


@given(sample_lists())
def test_a_pickle_is_the_same_list(samples: SampleList) -> None:
    assert pickle.loads(pickle.dumps(samples)) == samples


@given(sample_lists(), st.data())
def test_damaged_lists_give_a_list_or_an_error(samples: SampleList, data: st.DataObject) -> None:
    whole = render(samples)
    at = data.draw(st.integers(0, len(whole)))
    inserted = st.sampled_from(
        [b"\n", b" ", b"...", b"-", b"1", b"\0", b"99999999999999999999", b"\r"]
    )
    damaged = whole[:at] + data.draw(inserted | st.binary(max_size=8)) + whole[at + 1 :]
    assert_bounded(damaged)


@given(st.binary(max_size=100))
def test_any_bytes_give_a_list_or_an_error(data: bytes) -> None:
    assert_bounded(data)
    assert_bounded(V2 % (1, 1, data))
    assert_bounded(INCLUSION % (1, 1, 1, data))


def assert_bounded(text: bytes) -> None:
    with at_most(32 << 20):
        for ids in (None, "text", "integer"):
            with suppress(FormatError):
                render(read(text, ids))


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (b"0 ... 5 7 9 ... 12", [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12]),
        (b"... 5", [1, 2, 3, 4, 5]),
        (b"5 ... 2", [5]),
        (b"3 ... 3 7", [3, 4, 5, 6, 7]),
        (b"0 ... 5 ... 10", [0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 10]),
        (b"0 ... 2 ...", [0, 1, 2, 1, 2]),
        (b"7x +8 -9 010", [7, 8, -9, 10]),
        (b"5 ... 2 ... 9", [5, 9]),
    ],
)
def test_ranges_as_lbann_reads_them(words: bytes, numbers: list[int]) -> None:
    samples = read(V2 % (len(numbers), 1, b"f %d %s" % (len(numbers), words)), "integer")
    assert [each for _, each in samples] == numbers
    assert [each for _, each in read(render(samples), "integer")] == numbers


@pytest.mark.parametrize(
    "words",
    [
        *(b"3 ... 3", b"2 ...", b"2 ... ... 4", b"abc", b"-", b"9223372036854775808"),
        *(b"... ...", b"...", b"1 2 3", b"x7", b".", b"....", b"1 ... 4611686018427387904"),
    ],
)
def test_ranges_that_lbann_refuses(words: bytes) -> None:
    with pytest.raises(FormatError):
        read(V2 % (1, 1, b"f 1 " + words), "integer")


def test_large_ranges_take_no_memory() -> None:
    count = 2**60
    samples = read(V2 % (count, 1, b"f %d 0 ... %d" % (count, count - 1)), "integer")
    assert len(samples) == count
    assert len(samples.ids) == 1
    with pytest.raises(LimitError):
        read(V2 % (0, 1, b"f 0 -9223372036854775807 ... 9223372036854775807"), "integer")


def test_counts_wrap_as_they_do_in_cpp() -> None:
    samples = read(INCLUSION % (1, 0, 1, b"f -18446744073709551615 -1 a"))
    assert samples.files[0].excluded == 2**64 - 1
    assert b"f 1 18446744073709551615 a\n" in render(samples)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (INCLUSION % (2, 0, 1, b"f 2 0 a b"), []),
        (b"\xef\xbb\xbf" + INCLUSION % (1, 0, 1, b"f 1 0 a"), ["lbann-refuses"]),
        (INCLUSION % (2, 3, 1, b"f 1 2 a"), ["lbann-totals", "lbann-totals"]),
        (INCLUSION % (2, 0, 1, b"f 2 0 a a"), ["lbann-repeated-id"]),
        (INCLUSION % (1, 0, 1, b"f 1 0 ..."), ["lbann-dots"]),
        (INCLUSION % (2, 0, 2, b"f 1 0 a\nf 1 0 b"), ["lbann-repeated-file"]),
        (INCLUSION % (1, 2**64 - 1, 1, b"f 1 -1 a"), ["lbann-wrapped-count"]),
        (b"conduit_hdf5_exclusion x\n1 1 1 7\na b\nf 1 1 r/a", ["lbann-header-words"] * 2),
        (b"CONDUIT_HDF5_EXCLUSION\n3 1 1\na b\nf 3 1 r/a r/a", ["lbann-path-cut"]),
        (b"CONDUIT_HDF5_EXCLUSION\n3 1 1\nd\nf 3 1 r/a r/a", ["lbann-extra-id"]),
        (b"SINGLE-SAMPLE\n0\nd\na 1\n", ["lbann-label-line"]),
        (b"SINGLE-SAMPLE\n1\nd\n \na 1\n", ["lbann-no-label-file", "lbann-extra-words"]),
        (b"CONDUIT_HDF5_INCLUSION\n0 x\nd\n", ["lbann-no-number"]),
        (b"CONDUIT_HDF5_INCLUSION\n \nd\n", ["lbann-no-number"]),
        (b"SINGLE-SAMPLE\n2\nd\nl\na\na", []),
    ],
)
def test_findings(text: bytes, found: list[str]) -> None:
    assert codes(text)[: len(found) or 1] == found
    with pytest.raises(FormatError) if found and found[0] != "lbann-no-label-file" else _nothing():
        exset.loads(text, format="sample_list", strict=True, ids="text")


@pytest.mark.parametrize(
    ("text", "ids", "code"),
    [
        (b"CONDUIT_HDF5_EXCLUSION\n3 1 1\nd\nf 3 1 r/a", "text", "lbann-two-levels"),
        (V2 % (5, 1, b"f 5 3 ... 3 7"), "integer", "lbann-odd-range"),
        (V2 % (1, 1, b"f 1 5 ... 2"), "integer", "lbann-odd-range"),
        (V2 % (5, 1, b"f 5 ... 5"), "integer", "lbann-odd-range"),
        (V2 % (1, 1, b"f 1 7x"), "integer", "lbann-number-tail"),
        (V2 % (3, 1, b"f 3 2 3 3"), "integer", "lbann-repeated-id"),
    ],
)
def test_findings_of_records(text: bytes, ids: str, code: str) -> None:
    assert codes(text, ids) == [code]
    findings = Findings()
    read(text, ids, findings)
    (finding,) = findings
    assert finding.place is not None and finding.place.line == 4


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize(
    ("records", "ids", "found"),
    [
        (b"f.h5 2 0 1 2", False, []),
        (b"f.smi 2 0 1 2", True, ["lbann-ids-guessed"]),
        (b"f.smi 3 0 1 ... 3", True, ["lbann-ids-guessed"]),
        (b"f.smi 2 0 1 x", False, []),
        (b"f 0 0", False, []),
        (b"f 2 0 000000003 000000021", False, []),
        (b"f 2 0 1 02", False, []),
        (b"f 2 0 1\t02", False, []),
        (b"f 2 0 1 -2", False, []),
        (b"f 2 0 1 +2", False, []),
        (b"f 2 0 0 10", True, ["lbann-ids-guessed"]),
        (b"007 2 0 1 10", True, ["lbann-ids-guessed"]),
        (b"f.H5 3 0 1 ... 3", False, ["lbann-dots"]),
        (b"f 2000 0 " + b" ".join(b"%d" % i for i in range(1999)) + b" 0001999", False, []),
    ],
)
def test_guessed_ids(records: bytes, ids: bool, found: list[str]) -> None:
    text = INCLUSION % (0, 0, 1, records)
    assert read(text).has_integer_ids == ids
    assert [code for code in codes(text, None) if code != "lbann-totals"] == found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"CONDUIT\n", "syntax"),
        (b"\xef\xbb\xbf", "syntax"),
        (b"SINGLE-SAMPLE\n1\nd\n\na", "lbann-header"),
        (b"SINGLE-SAMPLE\n1\nd", "lbann-header"),
        (b"CONDUIT_HDF5_INCLUSION\n\nd", "lbann-header"),
        (INCLUSION % (1, 0, 1, b"f"), "syntax"),
        (INCLUSION % (1, 0, 1, b"f 1"), "syntax"),
        (INCLUSION % (1, 0, 1, b"l.txt\nf 1 0 a"), "syntax"),
        (INCLUSION % (1, 0, 1, b"f 1 99999999999999999999 a"), "lbann-hang"),
        (INCLUSION % (1, 0, 2, b"f 1 0 a"), "lbann-file-count"),
        (INCLUSION % (1, 0, 2, b"f 1 1 a\nf 1 1 b"), "lbann-repeated-file"),
        (b"SINGLE-SAMPLE\n2\nd\na\nb\n", "lbann-file-count"),
        (b"CONDUIT_HDF5_EXCLUSION\n1 1 1\nd\nf -1 1 a", "lbann-count"),
    ],
)
def test_errors(text: bytes, code: str) -> None:
    with pytest.raises(FormatError, match=code):
        read(text, "text")


def test_limits() -> None:
    with pytest.raises(LimitError, match="limit"):
        read(b"SINGLE-SAMPLE\n1\nd\nl\n123456", max_name=5, max_bytes=1 << 20)


def test_many_chunks_are_one_list() -> None:
    names = [b"f%d" % number for number in range(40_000)]
    records = b"".join(b"%s 3 1 a b%s c\n" % (name, name) for name in names)
    samples = read(INCLUSION % (120_000, 40_000, 40_000, records))
    assert samples.name.tolist() == names
    assert samples.files[39_999].ids == ["a", "bf39999", "c"]
    assert samples.computed == (120_000, 40_000)
    assert samples.totals is None


def test_lists_from_python() -> None:
    samples = SampleList.of(
        "CONDUIT_HDF5_INCLUSION", "data/", [("a.h5", ["s1", "s2"], 3), ("b.h5",)]
    )
    assert repr(samples) == "SampleList(CONDUIT_HDF5_INCLUSION, 2 samples of 2 files)"
    assert list(samples) == [("data/a.h5", "s1"), ("data/a.h5", "s2")]
    assert [file.name for file in samples.files] == ["a.h5", "b.h5"]
    assert repr(samples.files[0]) == "<file 'a.h5': 2 included, 3 excluded>"
    assert samples.computed == (2, 3)
    numbers = SampleList.of("MULTI-SAMPLE_INCLUSION_V2", ".", [("a", [1, 2, 3, 7])])
    assert numbers.ids[0] == (1, 3)
    single = SampleList.of("SINGLE-SAMPLE", ".", [("a",), ("b",)], label_file="l")
    assert list(single) == [("./a", "a"), ("./b", "b")]
    assert list(single.with_integer_ids()) == [("./a", 0), ("./b", 1)]


@pytest.mark.parametrize(
    ("kind", "directory", "files", "label_file"),
    [
        ("SINGLE-SAMPLE", ".", [("a",)], None),
        ("SINGLE-SAMPLE", ".", [("a", ["b"])], "l"),
        ("CONDUIT_HDF5_INCLUSION", ".", [], "l"),
        ("CONDUIT_HDF5_INCLUSION", "a b", [], None),
        ("CONDUIT_HDF5_INCLUSION", "", [], None),
        ("CONDUIT_HDF5_INCLUSION", ".", [("a b",)], None),
        ("CONDUIT_HDF5_INCLUSION", ".", [("",)], None),
        ("CONDUIT_HDF5_INCLUSION", ".", [("a", ["x\ny"])], None),
        ("CONDUIT_HDF5_INCLUSION", ".", [("a", [], -1)], None),
        ("MULTI-SAMPLE_INCLUSION_V2", ".", [("a", [], 1)], None),
        ("CONDUIT_HDF5_EXCLUSION", ".", [("a", [1])], None),
        ("NO_SUCH_KIND", ".", [], None),
    ],
)
def test_invalid_lists_from_python(
    kind: str, directory: str, files: list[tuple[object, ...]], label_file: str | None
) -> None:
    with pytest.raises(ValueError):
        SampleList.of(kind, directory, files, label_file=label_file)


def test_huge_counts_take_no_memory() -> None:
    samples = SampleList.of("CONDUIT_HDF5_EXCLUSION", ".", [("a", [], 2**60), ("b", [], 2)])
    assert samples.select([2**60, 2**60 + 1]) == samples.select_files([1])
    with pytest.raises(FormatError):
        samples.select(slice(3))


def test_an_exclusion_list_selects_whole_files_only() -> None:
    samples = SampleList.of("CONDUIT_HDF5_EXCLUSION", ".", [("a", ["x"], 3), ("b", [], 2)])
    assert len(samples) == 5
    assert samples.select([3, 4]) == samples.select_files([1])
    with pytest.raises(FormatError, match="lbann-exclusion"):
        samples.select([0])
    with pytest.raises(FormatError, match="lbann-exclusion"):
        samples.select([3, 3])
    with pytest.raises(FormatError, match="lbann-exclusion"):
        list(samples)


def test_default_columns_take_no_memory() -> None:
    samples = read(b"SINGLE-SAMPLE\n3\nd\nl\na\nb\nc")
    assert samples.others.strides == (0,)
    assert samples.id_offsets.strides == (0,)
    assert not samples.name.data.flags.writeable


def test_every_kind_is_a_type_of_the_grammar() -> None:
    assert {kind.value.replace("-", "_") for kind in Kind} == {kind.name for kind in Kind}
    assert np.array_equal(read(V2 % (0, 0, b"")).included, [])


SINGLE_WITH_IDS = b"SINGLE-SAMPLE\n2\n/d\nlabels\na.h5 2 1 s1 ...\nb.h5 1 0 7\n"


def test_the_hdf5_reader_reads_records_in_a_list_of_single_samples() -> None:
    assert [name for _, name in read(SINGLE_WITH_IDS)] == ["a.h5", "b.h5"]
    findings = Findings()
    samples = parse(Source("x", SINGLE_WITH_IDS), reader="hdf5", findings=findings)
    assert [name for _, name in samples] == ["s1", "...", "7"]
    assert (samples.kind, samples.label_file) == (Kind.MULTI_SAMPLE_INCLUSION, b"labels")
    assert samples.excluded.tolist() == [1, 0]
    assert [finding.code for finding in findings] == ["lbann-other-type", "lbann-dots"]
    assert read(render(samples), "text") == samples
    ranges = b"SINGLE-SAMPLE\n1\n/d\nlabels\na.smi 4 0 0 ... 3\n"
    assert len(parse(Source("x", ranges), reader="hdf5", ids="integer")) == 4


def test_the_hdf5_reader_refuses_files_alone() -> None:
    with pytest.raises(FormatError) as caught:
        parse(Source("x", b"SINGLE-SAMPLE\n1\n/d\nlabels\ncat.png\n"), reader="hdf5")
    assert caught.value.code == "syntax"


@pytest.mark.parametrize("kind", [kind for kind in Kind if not kind.is_single])
def test_the_image_reader_takes_each_file_for_a_sample(kind: Kind) -> None:
    """It reads the first word of a line, and compares the included samples with the files."""
    label = b"labels\n" if kind.has_label_file else b""
    numbers = b"%d 2" if kind is Kind.MULTI_SAMPLE_INCLUSION_V2 else b"%d 5 2"
    text = b"%s\n%s\n/d\n%sa.png 3 0 x\nb.png\n" % (kind.encode(), numbers, label)
    samples = parse(Source("x", text % 2), reader="image")
    assert list(samples) == [("/d/a.png", "a.png"), ("/d/b.png", "b.png")]
    assert (samples.kind, samples.label_file) == (Kind.SINGLE_SAMPLE, label[:-1])
    assert read(render(samples), "text") == samples
    with pytest.raises(FormatError) as caught:
        parse(Source("x", text % 3), reader="image")
    assert caught.value.code == "lbann-file-count"


@given(sample_lists(ids="text"))
def test_a_named_reader_reads_the_lists_that_are_written_for_it(samples: SampleList) -> None:
    reader = "image" if samples.kind.is_single else "hdf5"
    for engine in ("reference", "table"):
        assert parse(Source("x", render(samples)), reader=reader, engine=engine) == samples
