"""Real Lens texts: what Lens had in memory, and what it saved, is the judge."""

import csv
import gzip
from pathlib import Path

import pytest

from exset.codecs.lens.bex import decode, encode
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens.parse import parse
from exset.parsers.lens.render import render
from tests.lens.dump import from_dump, to_plain

# Where exset differs from Lens's verdict, and why.
ACCEPTED = {
    "lex_bom.ex": "a byte order mark is passed over, with a finding",
    "grp_14.ex": "Lens crashes on more than 12 group names",
}
CRASHES = {"CRASH", "HANG"}

# Where the bytes that Lens saves differ, and why.
LOSSY = {
    "lex_empty_name.ex": "binary cannot keep an empty name: written only when asked to lose it",
    "ex_freq_neg.ex": "Lens saves a negative frequency that it does not load again",
}
OTHER_BYTES = {
    "lex_nul.ex": "Lens saves a string with a NUL that it does not load again",
    "lex_utf8.ex": "Lens cuts characters beyond Latin-1 to a byte",
    "bin_utf8_name.bex": "Lens cuts characters beyond Latin-1 to a byte",
}

# What text cannot say, and why.
NO_TEXT = {
    "lex_nul.ex": "a string with a NUL",
    "bin_name_quote.bex": "a name with a delimiter that does not balance",
}


def rows(table: Path) -> list[dict[str, str]]:
    with table.open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def load(path: Path, engine: Engine) -> ExampleSet:
    source = Source(path.name, content(path))
    read = decode if source.data.startswith(b"\xaa\xaa\xaa\xaa") else parse
    return read(source, engine=engine)


def assert_round_trips(examples: ExampleSet) -> None:
    for compact in (False, True):
        text = render(examples, compact=compact)
        again = parse(Source("again.ex", text))
        assert again == examples
        assert render(again, compact=compact) == text


def test_real_files(corpus: Path, engine: Engine, largest: float) -> None:
    loaded = 0
    for row in rows(corpus / "lens" / "oracle.tsv"):
        path = corpus / "lens" / "files" / row["path"]
        if len(content(path)) > largest:
            continue
        if row["verdict"] == "reject":
            with pytest.raises(FormatError):
                load(path, engine)
            continue
        examples = load(path, engine)
        oracle = corpus / "lens" / "oracle" / row["path"]
        dump = next(p for s in (".json", ".json.gz") if (p := Path(f"{oracle}{s}")).exists())
        assert to_plain(examples) == from_dump(content(dump)), row["path"]
        binary = content(Path(f"{oracle}.bex.gz"))
        assert encode(examples, engine=engine) == binary, row["path"]
        assert decode(Source("again.bex", binary), engine=engine) == examples, row["path"]
        loaded += 1
    assert loaded > 90


def test_edge_cases(corpus: Path, engine: Engine) -> None:
    folder = corpus / "lens" / "edge"
    seen = 0
    for row in rows(folder / "verdicts.tsv"):
        path = folder / row["file"]
        if row["verdict"] != "accept" and path.name not in ACCEPTED:
            with pytest.raises(FormatError):
                load(path, engine)
        else:
            examples = load(path, engine)
            dump = path.with_suffix(".json")
            if dump.exists() and path.name != "lex_nul.ex":
                assert _latin(to_plain(examples)) == _latin(from_dump(dump.read_bytes())), path.name
            if path.name in NO_TEXT:
                with pytest.raises(FormatError):
                    render(examples)
            saved = path.with_suffix(".out.bex")
            if path.name in OTHER_BYTES:
                assert encode(examples, lossy=True, engine=engine) != saved.read_bytes(), path.name
            elif path.name in LOSSY:
                with pytest.raises(FormatError):
                    encode(examples, engine=engine)
                assert encode(examples, lossy=True, engine=engine) == saved.read_bytes(), path.name
            elif saved.exists():
                assert encode(examples, engine=engine) == saved.read_bytes(), path.name
        seen += 1
    assert seen > 170


def test_examples_of_the_manual_page(corpus: Path, engine: Engine) -> None:
    folder = corpus / "lens" / "edge" / "manual"
    seen = 0
    for path in sorted(folder.glob("*.ex")):
        dump = path.with_suffix(".json")
        if not dump.exists() and path.stem != "crazy_as_printed":
            with pytest.raises(FormatError):
                load(path, engine)
            continue
        examples = load(path, engine)
        if dump.exists():
            assert to_plain(examples) == from_dump(dump.read_bytes()), path.name
            assert encode(examples, engine=engine) == path.with_suffix(".bex").read_bytes(), (
                path.name
            )
        seen += 1
    assert seen >= 5


def test_text_of_all_files_reads_back(corpus: Path) -> None:
    seen = 0
    without_text = {name.split(".")[0] for name in NO_TEXT}
    for folder in ("files", "edge"):
        for path in sorted((corpus / "lens" / folder).rglob("*.*ex*")):
            if path.name.split(".")[0] in without_text:
                continue
            try:
                examples = load(path, "auto")
            except FormatError:
                continue
            assert_round_trips(examples)
            seen += 1
    assert seen > 200


def _latin(plain: object) -> object:
    """Bytes that are no UTF-8 as Lens reads them: Latin-1."""
    if isinstance(plain, dict):
        return {key: _latin(value) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_latin(value) for value in plain]
    if isinstance(plain, str):
        return "".join(chr(ord(c) - 0xDC00) if 0xDC80 <= ord(c) <= 0xDCFF else c for c in plain)
    return plain
