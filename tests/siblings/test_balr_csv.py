"""The CSV files of BA-LR, which are tables: files of audio or vectors, with ids and speakers."""

import csv
from pathlib import Path

import exset
from exset import Findings, Table
from tests.siblings.corpus import verdicts


def test_the_corpus(corpus: Path) -> None:
    """Each cell is kept as it is: `NA` and `007` are speakers, not a missing value and 7."""
    folder, seen = corpus / "siblings/balr-csv", 0
    for verdict in verdicts(folder):
        table = exset.load(folder / verdict.path, format="csv", model=Table, findings=Findings())
        text = (folder / verdict.path).read_text("utf-8")
        first = text.partition("\n")[0]
        mark = next(each for each in "\t;," if each in first)
        names, *rows = csv.reader(text.splitlines(), delimiter=mark)
        assert table.names == tuple(names)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True):
            if table.types[name] == "text":
                assert [each or "" for each in table[name]] == list(cells)
        seen += 1
    assert seen > 10


def test_speakers_are_text() -> None:
    data = b"id,audio,speaker\na,a.wav,007\nb,b.wav,NA\n"
    table = exset.loads(data, format="csv", model=Table, findings=Findings())
    assert [*table["speaker"]] == ["007", "NA"]
