"""Read folders that have a folder for each class, or a file metadata.csv, as tables.

torchvision (`ImageFolder`): the classes are the folders, sorted by name, and a label is the rank of
its class. Hugging Face `datasets` (`imagefolder`, `audiofolder`): if there is a metadata file, its
column `file_name` has the paths of the files, and its other columns describe them.
"""

import os
from typing import Final

import numpy as np

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, TableColumn, Text, text_or_bytes
from exset.grammars.tables.labels import labelled
from exset.grammars.tables.list_findings import finding_at
from exset.grammars.tables.table import Table
from exset.io.access import is_folder
from exset.io.folders import Folder
from exset.runtime.tables.folder_metadata import FILE_NAME, NAMES, parsed

CONTENTS: Final = "file"
PATHS: Final = "file.path"
"""The column with the paths of the files, if the column `file` has their bytes."""

_SUFFIXES: Final = (
    *(b".jpg", b".jpeg", b".png", b".ppm", b".bmp", b".pgm", b".tif", b".tiff", b".webp", b".gif"),
    *(b".wav", b".flac", b".mp3", b".ogg", b".mp4", b".avi", b".mkv"),
)
"""The suffixes of files that torchvision or `datasets` read as pictures, sounds and films."""


def read(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    contents: bool = False,
) -> Table:
    """Return the table of a folder: `path`, relative to the folder, `label`, int64, and `class`.

    Files may be at any depth below the folder of their class; hidden files are left out. contents:
    read the files: the column `file` has their bytes, `file.path` the paths. With a metadata file
    the columns are `path` and the columns of this file. Raises FormatError for a folder without
    classes and for a metadata file that cannot be read; LimitError for files of more than
    `max_batch` bytes.
    """
    found = Findings() if findings is None else findings
    name = next((each for each in NAMES if each in folder.names), None)
    table = _classes(folder, found) if name is None else _described(folder, name, limits, found)
    table = table.with_metadata({**table.metadata, "base": folder.name})
    return _with_contents(table, folder, limits) if contents else table


def _classes(folder: Folder, findings: Findings) -> Table:
    names = [each for each in folder.names if each[0] != "." and is_folder(folder.path_of(each))]
    if not names:
        message = "the folder has neither folders of classes nor a metadata.csv"
        raise FormatError(message, place=Place(folder.name), code="folder-layout")
    paths: list[bytes] = []
    counts: list[int] = []
    for name in names:
        files = [os.fsencode(each) for each in folder.files(name)]
        files.sort(key=lambda path: path.rpartition(b"/")[::2])
        counts.append(len(files))
        paths += files
        if not files:
            place = Place(os.path.join(folder.name, name))
            findings.add(finding_at("folder-empty", place, name=safe(name)))
    others = [path for path in paths if not path.lower().endswith(_SUFFIXES)]
    findings.add_each(
        others,
        lambda path: finding_at("folder-suffix", Place(folder.name), name=_shown(path)),
    )
    labels = np.repeat(np.arange(len(names)), counts).astype(np.int64)
    return labelled(text_or_bytes(Strings.of(paths)), Numbers.of(labels), names)


def _described(folder: Folder, name: str, limits: Limits, findings: Findings) -> Table:
    """Return the table of the metadata file `name`; add a finding for each missing file."""
    source = folder.read(name)
    table = parsed(source, limits, findings)
    paths = table.columns[FILE_NAME]
    assert isinstance(paths, Text), "parsed has checked it"
    for path in filter(None, paths):
        if not os.path.exists(folder.path_of(path)):
            words = {"name": safe(path), "why": "the file does not exist"}
            findings.add(finding_at("folder-file", Place(source.name), **words))
    return table


def _with_contents(table: Table, folder: Folder, limits: Limits) -> Table:
    """Return the table with the bytes of the files in `file`, and their paths in `file.path`."""
    [path] = table.metadata["files"]
    read: list[bytes] = []
    left = limits.max_batch
    paths = table.columns[path]
    assert isinstance(paths, Strings)
    for row in range(table.rows):
        with folder.open(os.fsdecode(paths[row] or b"")) as file:
            size = os.fstat(file.fileno()).st_size
            left -= size
            if left < 0:
                message = f"the files have more than {limits.max_batch:,} bytes"
                raise LimitError(message, place=Place(folder.name), hint=limit_hint("max_batch"))
            read.append(file.read(size))
    columns: dict[str, TableColumn] = {CONTENTS: Strings.of(read), PATHS: table.columns[path]}
    others = {name: column for name, column in table.columns.items() if name not in (path, PATHS)}
    return Table({**columns, **others}, table.rows, {**table.metadata, "files": [PATHS]})


def _shown(path: bytes) -> str:
    return safe(os.fsdecode(path))
