"""A small format of folders, for tests: each record of a manifest is a file."""

from collections.abc import Iterator

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.families.aeon import MANIFEST
from exset.families.format import Format
from exset.grammars.aeon.manifest import Manifest
from exset.io.folders import Folder, NewFolder


def stream(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Manifest]:
    """Yield a manifest for each file."""
    yield Manifest.of(["STRING"], [])
    for name in folder.names:
        fields = folder.read(name).data.split(b"\t")
        if len(fields) != 1:
            raise FormatError("too many fields", place=Place(folder.path_of(name)), code="syntax")
        yield Manifest.of(["STRING"], [fields])


def read(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Manifest:
    """Return the records of all files."""
    first, *more = stream(folder)
    return first.concat(*more)


def write(models: Iterator[Manifest], folder: NewFolder, /, *, findings: Findings) -> None:
    """Write a file for each record."""
    count = 0
    for model in models:
        for (field,) in model:
            folder.write(f"{count}.one", field)
            count += 1


ONES = Format(
    name="ones",
    title="one record a file",
    family=MANIFEST,
    suffixes=(),
    is_folder=True,
    contains=("*.one",),
    reader="tests.io.folder_format:read",
    streamer="tests.io.folder_format:stream",
    writer="tests.io.folder_format:write",
)
