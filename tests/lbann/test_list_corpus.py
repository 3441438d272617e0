"""Sample lists of LBANN, and LBANN's own verdicts on unusual lists."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from exset import Findings, FormatError, Severity
from exset.core.kernels import Engine
from exset.core.protocols import CheckOptions
from exset.core.source import Source
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.parsers.lbann.list_text import render
from exset.parsers.lbann.sample_list import parse
from exset.runtime.lbann.list_convert import recast
from exset.runtime.lbann.list_files import check

IDS = {"hdf5": "text", "ioh": "text", "image": "text", "smiles": "integer", "int": "integer"}
REFUSED = ("reject", "hang", "undefined")

# Where exset and LBANN differ on the text alone, and why.
READ_ALL_THE_SAME = {"h08_bom": "a byte order mark: the finding lbann-refuses"}
# Verdicts that depend on the files (rules A23, A32-A35), or on an option of LBANN.
NEED_THE_FILES = {
    *("h16_basedir_missing_check", "b15_missing_file_check", "s05_single_check_missing"),
    *("x03_excl_nested_ids", "x07_excl_unknown_id", "x13_excl_h5py_default_file"),
    *("x15_excl_jag_handle_noorder",),
}
# What LBANN writes otherwise, and why.
WRITTEN_OTHERWISE = {
    "r02_ranks2_keep_order": "in the order that two ranks see",
    **dict.fromkeys(
        (
            *("x01_excl_one", "x02_excl_none", "x04_excl_nested_top", "x08_excl_missing_file"),
            *("x11_excl_all", "x14_excl_jag_handle", "x17_excl_junk"),
        ),
        "an exclusion list becomes an inclusion list",
    ),
}


def rows(corpus: Path) -> Iterator[dict[str, str]]:
    with open(corpus / "lbann/edge/verdicts.tsv", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def load(path: Path, ids: str | None, findings: Findings, engine: Engine = "auto") -> SampleList:
    return parse(Source(path.name, path.read_bytes()), ids=ids, findings=findings, engine=engine)


@pytest.mark.parametrize("engine", ["reference", "table"])
def test_verdicts(corpus: Path, engine: Engine) -> None:
    seen = set()
    for row in rows(corpus):
        name, ids, findings = row["id"], IDS[row["kind"]], Findings()
        path = corpus / "lbann/edge" / row["file"]
        seen.add(name)
        if row["verdict"] in REFUSED and name not in {*READ_ALL_THE_SAME, *NEED_THE_FILES}:
            with pytest.raises(FormatError):
                load(path, ids, findings, engine)
            continue
        samples = load(path, ids, findings, engine)
        if name in READ_ALL_THE_SAME:
            assert "lbann-refuses" in {finding.code for finding in findings}
        if samples.kind.is_exclusion or row["verdict"] in REFUSED or name.startswith("r02"):
            continue
        base = samples.joined("")
        pairs = [f"{path.removeprefix(base)}:{each}" for path, each in samples]
        assert ";".join(pairs) == row["pairs"], name
        used = sum(1 for count in samples.included.tolist() if count)
        assert f"{len(samples)}/{used}" == row["samples/files"], name
        if name.startswith("n"):
            assert samples.has_integer_ids
    assert len(seen) > 60


def test_what_lbann_writes(corpus: Path) -> None:
    for row in rows(corpus):
        name = row["id"]
        written = corpus / f"lbann/edge/written/{name}.txt"
        if row["verdict"] in REFUSED or not written.exists():
            continue
        ids = IDS[row["kind"]]
        samples = load(corpus / "lbann/edge" / row["file"], ids, Findings())
        same = render(samples) == written.read_bytes()
        assert same != (name in WRITTEN_OTHERWISE), name
        findings = Findings(strict=True)
        again = load(written, ids, findings if name not in UNUSUAL else Findings())
        assert render(again) == written.read_bytes() or name == "x11_excl_all"


# Read with a finding even as LBANN writes them; of the last one it drops the file, not the total.
UNUSUAL = {"b08_dup_id_same_line", "b19_ellipsis_for_strings", "x11_excl_all"}


def test_what_lbann_cannot_write_is_written(corpus: Path) -> None:
    """Ids that go down, repeat or are negative (rule A48)."""
    for row in rows(corpus):
        if "WRITE-ERROR" not in row["written_back"]:
            continue
        samples = load(corpus / "lbann/edge" / row["file"], "integer", Findings())
        again = parse(Source("x", render(samples)), ids="integer")
        assert list(again) == list(samples)


TOTALS = {
    "seed_sl_1": (7, 23, 3),
    "seed_sl_2": (61, 3, 3),
    "doc_gen_1": (7, 23, 3),
    "sample_list_one_range": (20, 0, 1),
    "sample_list_many_ranges": (18, 2, 1),
    "multi_sample_inclusion_v2_list": (18, 0, 1),
    "multi_sample_inclusion_v2_list_many_files": (72, 0, 4),
}


def test_real_lists(corpus: Path) -> None:
    paths = sorted((corpus / "lbann/files/LLNL+lbann/extracted").glob("*.sample_list"))
    paths += sorted((corpus / "lbann").glob("**/*clusive.sample_list"))
    assert len(paths) > 18
    for path in paths:
        findings = Findings()
        samples = load(path, None, findings)
        assert not findings.count("lbann-totals"), path
        if path.stem in TOTALS:
            assert (*samples.computed, len(samples.name)) == TOTALS[path.stem]
        again = parse(Source("x", render(samples)), ids=None)
        assert again == samples, path


# LBANN reads these lists, with or without a warning, and fails when it comes to the samples, or to
# the labels of images.
FAILS_LATER = {
    "b07_id_not_in_file": {"lbann-missing-id"},
    "b16_missing_file_nocheck": {"lbann-missing-file"},
    "b18_unpadded_id": {"lbann-missing-id"},
    "b19_ellipsis_for_strings": {"lbann-missing-id"},
    "b20_junk_h5": {"lbann-unreadable-file"},
    "b29_nbsp": {"lbann-missing-id"},
    "s03_single_extra_columns": {"lbann-missing-labels"},
    "s04_single_two_counts": {"lbann-missing-labels"},
    "s06_single_intnames": {"lbann-missing-labels"},
    "r02_ranks2_keep_order": {"lbann-missing-directory"},
    "r03_ranks2_keep_4files": {"lbann-missing-directory"},
    "r05_image_ranks2_keep": {"lbann-missing-file", "lbann-missing-labels"},
    "r07_image_ranks4_keep7": {"lbann-missing-file", "lbann-missing-labels"},
}


def test_verdicts_with_the_files(corpus: Path) -> None:
    """An error where LBANN refuses a list, files or samples, a warning where it warns."""
    edge = corpus / "lbann/edge"
    for row in rows(corpus):
        name, findings = row["id"], Findings(strict="--check" in row["options"])
        try:
            samples = load(edge / row["file"], IDS[row["kind"]], Findings())
        except FormatError:
            assert row["verdict"] in REFUSED, name
            continue
        try:
            check(samples, findings, CheckOptions(name, str(edge)))
        except FormatError as error:
            findings = Findings()
            findings.add(replace(error.finding, severity=Severity.ERROR))
        found = {finding.code for finding in findings}
        refused = findings.worst is Severity.ERROR
        if name in FAILS_LATER:
            assert row["verdict"] in ("accept", "warn") and found == FAILS_LATER[name], name
        elif name not in READ_ALL_THE_SAME:
            assert refused == (row["verdict"] in REFUSED), (name, found)
            if row["verdict"] == "warn":
                assert findings.worst is Severity.WARNING, name
        if not samples.kind.is_exclusion or refused:
            continue
        resolved = recast(samples, Kind.CONDUIT_HDF5_INCLUSION, Findings(), base=str(edge))
        base = resolved.joined("")
        pairs = ";".join(f"{path.removeprefix(base)}:{each}" for path, each in resolved)
        assert pairs == row["pairs"], name
        written = (edge / f"written/{name}.txt").read_bytes()
        if name != "x11_excl_all":  # LBANN drops a file without samples
            assert render(resolved) == written, name
