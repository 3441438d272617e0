"""The cases of sample lists, manifests and samplers: exset and real files agree with them."""

import csv
import json
import struct
from base64 import b64decode
from pathlib import Path

import jsonschema
import pytest

from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.testing import conformance
from exset.testing.conformance import lbann, meanings
from exset.testing.conformance.nodes import Document, Node
from exset.testing.conformance.plain_words import explained
from tests.conformance import real_files

FORMATS = {
    "sample_list": ("lbann-list", 120),
    "schema": ("schema", 90),
    "schema_pair": ("schema-pairs", 45),
    "manifest": ("aeon-manifest", 120),
    "loader_config": ("aeon-config", 130),
    "block": ("cpio", 50),
    "sampler": ("samplers", 60),
}


@pytest.mark.parametrize("format", FORMATS)
def test_exset_passes(format: str, engine: Engine) -> None:
    def read(data: bytes, **options: str) -> Document:
        return meanings.meaning(data, format, engine, options)

    score = conformance.check(read, format)
    assert score.passed == score.run
    assert score.run + score.not_judged == len(conformance.cases(format)) >= FORMATS[format][1]


@pytest.mark.parametrize("format", FORMATS)
def test_the_schema(format: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(conformance.schema(FORMATS[format][0])))
    for case in conformance.cases(format)[::7]:
        if case.meaning is not None:
            validator.validate(case.meaning)
    assert not validator.is_valid({})


@pytest.mark.parametrize(
    ("table", "same_rule", "format"),
    [
        ("lbann/edge/verdicts.tsv", real_files.SAME_LIST, "sample_list"),
        ("aeon/edge/verdicts.tsv", real_files.SAME_MANIFEST, "manifest"),
    ],
)
def test_real_verdicts_agree(
    corpus: Path, table: str, same_rule: dict[str, str], format: str
) -> None:
    """LBANN and aeon accept and refuse files of the same rules; a warning is no refusal."""
    with (corpus / table).open(newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    column = rows[0].index("verdict" if format == "sample_list" else "head_verdict")
    verdicts = {row[0]: row[column] for row in rows}
    cases = {case.name: case for case in conformance.cases(format)}
    expected = {"accept": "valid", "accept-record-error": "valid", "reject": "invalid"}
    for name, case in same_rule.items():
        verdict = expected.get(verdicts[name], "differs")
        assert cases[case].verdict in (verdict, "differs"), (name, case)
    assert len(same_rule) >= 40


def test_real_elements_agree(corpus: Path) -> None:
    """The bytes of elements that aeon itself made; those of files are left out."""
    folder = corpus / "aeon" / "edge"
    seen = 0
    for dump in sorted((folder / "dump").glob("0*.head.json")):
        path = folder / f"{dump.name.removesuffix('.head.json')}.tsv"
        real = json.loads(dump.read_text())
        if not path.exists() or not real.get("records"):
            continue
        try:
            document = meanings.meaning(path.read_bytes(), "manifest")
        except FormatError:
            continue
        records = Node(document).get("records").items()
        for record, made in zip(records, real["records"], strict=True):
            kinds = Node(document).get("types").items()
            for kind, element, other in zip(
                kinds, record.items(), made.get("elements", ()), strict=False
            ):
                if kind.value != "FILE" and not element.missing and "hex" in other:
                    assert _bytes_of(element).hex() == other["hex"], path.name
                    seen += 1
    assert seen > 45


def _bytes_of(element: Node) -> bytes:
    """The bytes that aeon stores for an element."""
    value = element.value
    if isinstance(value, int):
        return struct.pack("<i", value)
    if isinstance(value, dict) and "bits" in value:
        return bytes.fromhex(value["bits"])[::-1]
    return b64decode(value["base64"]) if isinstance(value, dict) else element.text().encode()


def test_requests_to_samplers() -> None:
    request = b'{"sampler": "exhaustive", "labels": [0, 0, 1], "n": 2, "m": 1, "shuffle": false}'
    assert meanings.meaning(request, "sampler") == {"ranks": [[0, 2]]}
    for wrong in (b"[", b"[]", b'{"sampler": "best"}', request.replace(b'"m"', b'"k"')):
        with pytest.raises(FormatError):
            meanings.meaning(wrong, "sampler")


def test_a_list_may_be_short() -> None:
    short = {
        "type": "SINGLE-SAMPLE",
        "directory": "/d",
        "files": [{"name": b"a"}, {"name": "\xe9"}],
    }
    text = "SINGLE-SAMPLE\n2\n/d\nnone\na\n\xe9\n".encode()
    full = meanings.meaning(text, "sample_list")
    assert lbann.normalized(Node({**short, "label_file": "none"})) == full
    assert explained(full, lbann.normalized(Node(short))) == ["label_file is none: expected 'none'"]
    with pytest.raises(ValueError, match="type: expected a type of sample lists, not 'LIST'"):
        lbann.normalized(Node({**short, "type": "LIST"}))


def test_output_of_scripts() -> None:
    """Bytes that are not UTF-8, and control characters, may be as they are in the file."""
    text = b"SINGLE-SAMPLE\n1\n/d\nnone\na\xe9\x01b\n"
    output = b'{"type": "SINGLE-SAMPLE", "directory": "/d", "label_file": "none", '
    output += b'"files": [{"name": "a\xe9\x01b"}]}'
    assert meanings.parsed(output, "sample_list") == meanings.meaning(text, "sample_list")


def test_differences_in_words() -> None:
    right = meanings.meaning(b"@ASCII_FLOAT\n1\n-\n2\n", "manifest")
    wrong = meanings.meaning(b"@ASCII_FLOAT\n1\n3\n", "manifest")
    assert explained(right, wrong) == [
        "records: expected 3 items, not 2",
        "records[1][0] is 3: expected none",
    ]
    many = meanings.meaning(b"@ASCII_INT\n" + b"1\n" * 20, "manifest")
    other = meanings.meaning(b"@ASCII_INT\n" + b"2\n" * 20, "manifest")
    assert explained(many, other)[-1] == "and 8 more differences"


def test_options_of_cases_reach_the_reader() -> None:
    case = next(each for each in conformance.cases("sample_list") if each.options)
    assert case.options == {"ids": "integer"}
    seen = []

    def read(data: bytes, **options: str) -> Document:
        seen.append(options)
        return meanings.meaning(data, "sample_list", options=options)

    assert conformance.check_case(read, case).outcome == "passed" and seen == [{"ids": "integer"}]
    assert case.features == ("MULTI-SAMPLE_INCLUSION_V2", "integers")
