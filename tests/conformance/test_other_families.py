"""The cases of schemas, configurations and blocks; and faults of readers of all other formats."""

import csv
import json
from pathlib import Path

import pytest

from exset.core.errors import FormatError
from exset.testing import conformance
from exset.testing.conformance import FunctionReader, meanings
from exset.testing.conformance.generated import case_of, search
from exset.testing.conformance.nodes import Document, Node
from exset.testing.conformance.written import data_of
from tests.conformance import real_files
from tests.conformance.config_schema import config_schema
from tests.conformance.more_faults import MORE_FAULTS, READERS
from tests.lbann.test_schema_corpus import wanted_fields

CASES = {format: {case.name: case for case in conformance.cases(format)} for format in READERS}
PAIRS = [(format, fault) for format, faults in MORE_FAULTS.items() for fault in faults]


@pytest.mark.parametrize("format", READERS)
def test_a_right_reader_passes(format: str) -> None:
    """The reader shares no code with exset, so the meanings do not depend on exset alone.

    Only the readers of schemas and samplers use a part of exset, or of a library that exset uses.
    """
    score = conformance.check(READERS[format](), format)
    assert score.passed == score.run == len(CASES[format]) - score.not_judged > 40


@pytest.mark.parametrize(("format", "fault"), PAIRS)
def test_a_case_finds_the_fault(format: str, fault: str) -> None:
    with pytest.raises(conformance.NotConforming):
        case = CASES[format][MORE_FAULTS[format][fault][1]]
        conformance.check_case(READERS[format](fault), case)


@pytest.mark.parametrize(
    ("format", "faults"), [(name, [*each][:2]) for name, each in MORE_FAULTS.items()]
)
def test_drawn_files_find_faults(format: str, faults: list[str]) -> None:
    """`python -m tests.conformance.search` tries all faults."""
    assert search(FunctionReader(READERS[format]()), format, 30) is None
    for fault in faults:
        found = search(FunctionReader(READERS[format](fault)), format, 2000)
        assert found is not None and found.draws <= 2000 and found.result.messages


def test_there_are_enough_cases() -> None:
    """Each kind of file has cases of its own."""
    count = {format: len(conformance.cases(format)) for format in conformance.formats()}
    assert count["ex"] + count["bex"] >= 200 and count["sampler"] >= 60
    assert count["sample_list"] >= 120 and count["schema"] + count["schema_pair"] >= 120
    assert count["manifest"] + count["loader_config"] + count["block"] >= 300
    for format, cases in CASES.items():
        declared = [case for case in cases.values() if case.agree or case.verdict == "differs"]
        assert all(case.rule and case.section and case.features for case in declared)
        assert {case.verdict for case in cases.values()} >= {"valid", "invalid"}, format


def test_the_schema_of_configurations_follows_from_their_tables() -> None:
    assert json.loads(conformance.schema("aeon-config")) == config_schema()


def verdicts(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_pairs_agree_with_lbann(corpus: Path) -> None:
    """LBANN's verdicts on pairs of the same rules; and its fields for all of its pairs."""
    edge = corpus / "lbann" / "edge"
    cases = {**CASES["schema"], **CASES["schema_pair"]}
    values = 0
    for row in verdicts(edge / "schema_verdicts.tsv"):
        texts = {
            role: (edge / row[f"{role}_schema"]).read_text() for role in ("data", "experiment")
        }
        is_merged = row["stage"] not in ("schema-load", "schema-merge")
        expected = "valid" if row["verdict"] != "reject" else "differs" if is_merged else "invalid"
        if row["id"] in real_files.SAME_PAIR:
            assert cases[real_files.SAME_PAIR[row["id"]]].verdict in (expected, "differs"), row
        request = json.dumps(texts).encode()
        found = READERS["schema_pair"]()(request)
        if not is_merged:
            assert found is None, row["id"]
            with pytest.raises(FormatError):
                meanings.meaning(request, "schema_pair")
            continue
        fields = [
            {"name": name, "metadata": metadata}
            for name, metadata in wanted_fields(row["fields(merged metadata)"])
        ]
        family = meanings.family_of("schema_pair")
        real = family.normalized(Node({"fields": fields}))
        assert meanings.meaning(request, "schema_pair") == real, row["id"]
        assert found is not None and family.normalized(Node(found)) == real, row["id"]
        values += 1
    assert values > 45


def test_configurations_agree_with_aeon(corpus: Path) -> None:
    """The verdicts of two versions, and the outputs that each configuration gives."""
    folder = corpus / "aeon" / "edge_config"
    outputs = 0
    for row in verdicts(folder / "verdicts.tsv"):
        head, seed = json.loads(row["head"]), json.loads(row["seed"])
        data = (folder / f"{row['case']}.json").read_bytes()
        found = READERS["loader_config"]()(data)
        assert (found is not None) == head["ok"], row["case"]
        if (name := real_files.SAME_CONFIG.get(row["case"])) is not None:
            case = CASES["loader_config"][name]
            verdict = "valid" if head["ok"] else "invalid"
            assert case.verdict in (verdict, "differs"), row["case"]
            if "aeon (April 2017)" in case.agree:
                assert head["ok"] == seed["ok"], row["case"]
        if found is None:
            continue
        document = meanings.meaning(data, "loader_config")
        members = Node(document).get("members")
        assert members.get("batch_size").value == head["batch_size"]
        real = [
            {name: each[name] for name in ("name", "shape", "type")} for each in head["outputs"]
        ]
        assert found["outputs"] == document["outputs"] == real, row["case"]
        outputs += len(real)
    assert outputs >= 50


def test_versions_that_agree() -> None:
    """A configuration of which two versions make the same gives equal outputs in exset, too."""
    for case in CASES["loader_config"].values():
        if "aeon (April 2017)" in case.agree:
            both = [outputs(case.data, dialect) for dialect in ("head", "seed")]
            assert both[0] == both[1], case.id


def outputs(data: bytes, dialect: str) -> object:
    try:
        found = meanings.meaning(data, "loader_config", options={"dialect": dialect})
    except FormatError:
        return None
    return found["outputs"]


def test_blocks_agree_with_aeon(corpus: Path) -> None:
    """The elements that aeon wrote, block by block; it reads the shifted ones, too."""
    family, seen = meanings.family_of("block"), 0
    for about in sorted((corpus / "aeon" / "cpio").glob("*.json")):
        for name, block in json.loads(about.read_text())["tree"].items():
            raw = block.get("raw")
            if not isinstance(raw, dict) or any(
                not isinstance(each, dict) for each in raw["entries"]
            ):
                continue
            data = (about.with_suffix("") / name).read_bytes()
            elements = [bytes.fromhex(each["hex"]) for each in raw["entries"]]
            names = [each["name"] for each in raw["entries"]]
            inner = [
                element
                for element, entry in zip(elements, names, strict=True)
                if entry.startswith("rec_")
            ]
            real = family.normalized(Node({"record_count": raw["record_count"], "elements": inner}))
            found = READERS["block"]()(data)
            assert found is not None and family.normalized(Node(found)) == real, name
            assert meanings.meaning(data, "block") == real, name
            seen += 1
    assert seen > 25


def test_requests_agree_with_balr(corpus: Path) -> None:
    """The indices of BA-LR's own samplers, of all ranks."""
    vectors = json.loads((corpus / "samplers" / "vectors.json").read_text())
    names = {"n_classes": "n", "m_samples": "m", "num_replicas": "replicas"}
    members = ("sampler", "labels", "shuffle", "drop_last", "seed", "epoch", *names)
    for each in vectors[:150]:
        request = {names.get(name, name): each[name] for name in members if name in each}
        request["compat"] = "balr"
        found = meanings.meaning(json.dumps(request).encode(), "sampler")
        assert found == {"ranks": [rank["indices"] for rank in each["ranks"]]}, each["id"]


@pytest.mark.parametrize(
    ("format", "right", "wrong", "words"),
    [
        (
            "schema",
            b"a:\n  metadata: {x: 2.0}\n",
            b"a:\n  metadata: {x: 2}\n",
            "children.a.metadata.x is 2: expected 2",
        ),
        (
            "loader_config",
            b'{"manifest_filename": "a", "batch_size": 2.7, "etl": []}',
            b'{"manifest_filename": "a", "batch_size": 3, "etl": []}',
            "members.batch_size is 3: expected 2",
        ),
    ],
)
def test_differences_in_words(format: str, right: bytes, wrong: bytes, words: str) -> None:
    family = meanings.family_of(format)
    both = (meanings.meaning(data, format) for data in (right, wrong))
    assert any(words in sentence for sentence in family.explained(*both))


def test_a_meaning_may_be_short() -> None:
    """Members with their default may be missing, and numbers be written in other ways."""
    short: dict[str, Document] = {
        "schema": {"children": {"a": None, "b": {"metadata": {"x": 2.0, "y": [1, 2], "z": None}}}},
        "schema_pair": {
            "fields": [{"name": "b", "metadata": {"x": {"decimal": "2"}}}, {"name": "a"}]
        },
        "loader_config": {
            "members": {"manifest_filename": "a", "batch_size": 2, "etl": [{"type": "label"}]},
            "outputs": [{"name": "label", "shape": [1], "type": "uint32_t"}],
        },
        "block": {"record_count": 1, "elements": ["a"]},
    }
    files = {
        "schema": b"a:\nb:\n  metadata: {x: 2.0, y: [1, 2], z: }\n",
        "schema_pair": b'{"data": "a:\\nb:\\n  metadata: {x: 2.0}", "experiment": "a:\\nb:\\n"}',
        "loader_config": b'{"manifest_filename": "a", "batch_size": 2, "etl": [{"type": "label"}]}',
        "block": data_of({"block": "header:1 'a' trailer end"}, {}),
    }
    for format, document in short.items():
        found = meanings.family_of(format).normalized(Node(document))
        assert found == meanings.meaning(files[format], format), format


@pytest.mark.parametrize(
    ("format", "document", "message"),
    [
        ("schema", {"children": {"a": 1}}, "children.a: expected an object"),
        ("schema", {"metadata": {"x": True}}, "metadata.x: expected"),
        ("schema", {"metadata": {"x": {"bits": "z"}}}, "16 hexadecimal digits"),
        ("loader_config", {"members": {}, "outputs": []}, "manifest_filename: expected a value"),
        ("loader_config", {"members": {"x": 1}, "outputs": []}, "unknown member 'x'"),
        ("block", {"record_count": 1}, "elements: expected an array"),
    ],
)
def test_what_is_no_meaning(format: str, document: Document, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        meanings.family_of(format).normalized(Node(document))


def test_what_differs_is_no_fault() -> None:
    """A drawn file of which the real systems make different things tests no reader."""
    twice = b'{"manifest_filename": "a", "batch_size": 1, "batch_size": 2, "etl": []}'
    assert case_of(twice, "loader_config").verdict == "differs"
    assert case_of(b"@ASCII_INT\n1e30\n", "manifest").verdict == "differs"
    assert case_of(b"@ASCII_INT\n1e3\n", "manifest").verdict == "valid"
    with pytest.raises(ValueError, match="unknown notation"):
        data_of({"text": "a"}, {})
