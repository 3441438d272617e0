"""What each format holds of each kind of data: the table of `docs/matrix.md`.

`python -m tests.laws.matrix` writes the page.
"""

from pathlib import Path
from typing import Final

from exset import formats
from exset.families.format import Format
from tests.laws.conversions import SOURCES

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "matrix.md"

TARGETS: Final = tuple(
    fmt for fmt in formats.FORMATS if fmt.is_written and fmt.name not in ("schema", "loader_config")
)
"""The formats that hold samples; schemas and configurations hold none."""

LOSSLESS: Final = "="

_ALL: Final = dict.fromkeys(SOURCES, LOSSLESS)
_DROPPED: Final = dict.fromkeys(SOURCES, "table-dropped")
_NO: Final = dict.fromkeys(SOURCES, "no table-holds")
_DENSE: Final = "lens-layout-inferred lens-table-defaults lens-table-expanded"
_LENS: Final = {**_DROPPED, "lens": LOSSLESS}
_NAMED_AS_ELEMENTS: Final = "csv-manifest table-dropped"
_TEXT: Final = {
    **_DROPPED,
    "lens": _DENSE,
    "list": LOSSLESS,
    "manifest": _NAMED_AS_ELEMENTS,
    "block": _NAMED_AS_ELEMENTS,
    "files": LOSSLESS,
}
_LIST: Final = {
    **_NO,
    "manifest": "table-dropped",
    "files": "list-classes",
    "folder": "table-dropped",
}
_SHARDS: Final = {**_ALL, "lens": _DENSE, "nested": "table-dropped"}
_EXAMPLES: Final = {**_SHARDS, "flat": "table-dropped"}
_RECORDS: Final = {
    "lens": f"aeon-names {_DENSE} table-dropped",
    "list": "aeon-names",
    "manifest": LOSSLESS,
    "block": LOSSLESS,
    "flat": "aeon-names table-dropped",
    "nested": "aeon-names table-dropped",
    "files": "aeon-classes aeon-names",
    "folder": "aeon-names",
}

CELLS: Final[dict[str, dict[str, str]]] = {
    "ex": _LENS,
    "bex": _LENS,
    "sample_list": {
        **_NO,
        "list": LOSSLESS,
        "manifest": "table-dropped",
        "files": "table-dropped",
        "folder": "table-dropped",
    },
    "manifest": _RECORDS,
    "block": {**_RECORDS, "manifest": ""},
    "cpio": {**dict.fromkeys(SOURCES, "no format"), "block": LOSSLESS},
    "npz": _ALL,
    "npy": {
        **_DROPPED,
        "lens": f"{_DENSE} table-dropped",
        "list": "no table-holds",
        "block": "no table-holds",
    },
    "csv": _TEXT,
    "tsv": _TEXT,
    "jsonl": {
        **dict.fromkeys(SOURCES, "table-dropped"),
        "lens": f"{_DENSE} table-dropped",
        "list": LOSSLESS,
        "nested": LOSSLESS,
        "files": LOSSLESS,
    },
    "file_list": _LIST,
    "lst": _LIST,
    "svmlight": {**_NO, "lens": f"{_DENSE} table-dropped", "flat": "table-dropped"},
    "snns": {**_NO, "lens": f"{_DENSE} table-dropped", "flat": "table-dropped"},
    "ctf": {
        **_NO,
        **dict.fromkeys(("manifest", "flat", "nested", "files", "folder"), "table-dropped"),
        "lens": f"{_DENSE} table-dropped",
    },
    "emergent": {
        **_DROPPED,
        "lens": f"{_DENSE} table-dropped",
        "list": "",
        "files": LOSSLESS,
    },
    "kaldi_data": dict.fromkeys(SOURCES, "no table-holds"),
    "kaldi_ark": {**_NO, "lens": f"{_DENSE} table-dropped", "flat": "table-dropped"},
    "mikenet": {**_DROPPED, "lens": f"{_DENSE} table-dropped"},
    "imagefolder": {
        **_DROPPED,
        "lens": "no table-holds",
        "nested": "no table-holds",
        "list": "folder-file",
        "files": "folder-renamed",
        "folder": LOSSLESS,
    },
    "webdataset": _SHARDS,
    "tfrecord": _EXAMPLES,
    "mds": _EXAMPLES,
    "webdataset-shards": _SHARDS,
    "tfrecord-shards": _EXAMPLES,
    "lbann_hdf5": {**_SHARDS, "lens": f"lbann-not-in-schema {_DENSE}"},
    "hdf5": _ALL,
    "parquet": _ALL,
    "feather": _ALL,
    "arrow-stream": _ALL,
}
"""For each target and source: `=`, if all comes back equal; the codes of the findings about what is
lost; or `no` and the code of the error. An empty text: lost without a finding, by design."""

_ROWS: Final = "Examples, with their inputs, targets and words; no other columns."
_VALUES: Final = "Values of aeon's types: no arrays, no absent values, no names of columns"
_PATHS: Final = "A path and one label for each row; no names of classes that paths do not show."

WHY: Final[dict[str, str]] = {
    "ex": _ROWS,
    "bex": _ROWS,
    "sample_list": "The paths of files, and the ids of samples in them.",
    "manifest": f"{_VALUES}.",
    "block": f"{_VALUES}, no types; the contents of files in place of their paths.",
    "cpio": "An archive of named files: `exset convert` makes a block of other data.",
    "npz": "",
    "npy": "One array of numbers.",
    "csv": "Numbers, text and arrays; no lists, no bytes that are not UTF-8; Lens sets as meant.",
    "tsv": "As CSV.",
    "jsonl": "Numbers but NaN, text, lists, and records of these; no bytes, no dates.",
    "file_list": _PATHS,
    "lst": f"A number for each row. {_PATHS}",
    "svmlight": "Numbers by index, with one target or several labels for each row.",
    "snns": "A vector of inputs, one of targets and a class for each row; no NaN.",
    "ctf": "Numbers, dense or sparse, of each row, and the sequence of the row; no NaN.",
    "emergent": "Numbers, text and arrays; no lists, no absent text, no integers beyond 53 bits.",
    "kaldi_data": "Utterances by name, with their speaker, words, sound and segment.",
    "kaldi_ark": "A matrix or a vector for each key: of inputs, or of targets.",
    "mikenet": "Examples with inputs and targets by group and time, with a name and a frequency.",
    "imagefolder": "Files, by class, or with metadata; paths begin with the class.",
    "webdataset": "No lists of records; Lens sets as meant.",
    "tfrecord": "No lists of records, and no dates; Lens sets as meant.",
    "mds": "No lists of records, no empty arrays, no dates; one row or more; Lens sets as meant.",
    "webdataset-shards": "As WebDataset.",
    "tfrecord-shards": "As TFRecord.",
    "lbann_hdf5": "No lists of records; text is not in the schemas; Lens sets as meant.",
    "hdf5": "",
    "parquet": "",
    "feather": "",
    "arrow-stream": "",
}
"""What each target holds, for people; empty if it holds all."""

_HEAD: Final = """# What each format holds

Each row is a format to write, and each column a kind of data.

- **lossless**: all comes back equal. A value that cannot be written, such as an empty array in
  some formats, is an error.
- **lossy**: the format cannot hold a part. exset reports what is lost, and refuses to drop values
  without `--lossy`.
- **no**: the format has no place for such data.

`exset convert --dry-run` says what a conversion would lose, and writes nothing.

"""

_TAIL: Final = """
*List of files* and *files with contents* are tables: of folders and lists of files, without and
with `--contents`. A sample list stays a list in all tables; `--data` and `--experiment` add the
fields of its HDF5 files.

Lens sets *as meant* are dense arrays: the values stay, and shared lists, spans and `*` are expanded
([tables](tables.md#as-meant-and-as-said)). A manifest keeps the spelling of numbers such as `007`
only in formats that hold records; elsewhere the numbers are equal. An element that aeon cannot read
is absent there, with a finding.

Caches are folders of blocks: `exset cache build` writes one of any data in the row of the block.
Schemas and loader configurations hold no samples, so they convert to nothing else.
"""


def page() -> str:
    """Return the page."""
    titles = [source.title for source in SOURCES.values()]
    lines = [["to", *titles, "what the format holds"], ["---"] * (len(titles) + 2)]
    for target in TARGETS:
        words = [_word(CELLS[target.name][name]) for name in SOURCES]
        lines.append([_named(target), *words, WHY[target.name] or "everything"])
    return _HEAD + "".join(f"| {' | '.join(line)} |\n" for line in lines) + _TAIL


def _named(target: Format) -> str:
    return f"{target.title}, `{target.name}`"


def _word(verdict: str) -> str:
    if verdict == LOSSLESS:
        return "lossless"
    return "no" if verdict.startswith("no ") else "lossy"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
