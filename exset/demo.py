"""`exset demo`: write, check, convert and read the bundled samples."""

import errno
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from exset import api, checking, converting, formats, samples
from exset.core.errors import FormatError, Place, Severity
from exset.io import files


@dataclass(frozen=True)
class Step:
    """A step of the demo: a sample was written, checked and converted.

    name: the file of the sample. converted: the converted file. units: how many units it has.
    """

    name: str
    converted: str
    units: int


def describe(folder: str) -> Iterator[str]:
    """Run the demo in a folder, and yield its output, line by line.

    Raises FileExistsError if the folder contains files that the demo did not write, and OSError if
    a file cannot be written.
    """
    done = list(steps(folder))
    yield f"In {folder}:"
    wide = max(len(step.name) for step in done)
    for step in done:
        units = api.target_format(step.converted).family.counted(step.units)
        yield f"  {step.name:<{wide}}  valid, {units}  ->  {step.converted}, which is equal"
    yield "Try next:"
    for verb, name in (
        ("info", "pulse.ex"),
        ("head -n 1", "xor-binary.bex"),
        ("validate", "xor-sparse.ex"),
        ("config show", "pictures.json"),
        ("convert --to ex -o -", "groups.bex"),
    ):
        yield f"  exset {verb} {shlex.quote(os.path.join(folder, name))}"
    yield "Some texts are laid out by hand, to show their syntax: exset fmt --check names these."


def steps(folder: str) -> Iterator[Step]:
    """Write, check and convert each sample in a folder; compare it with its converted file."""
    pairs = {name: _converted(name) for name in samples.names()}
    if os.path.lexists(folder) and not os.path.isdir(folder):
        reason = "a file has this name; use another folder: exset demo FOLDER"
        raise NotADirectoryError(errno.ENOTDIR, reason, folder)
    os.makedirs(folder, exist_ok=True)
    _check(folder, {*pairs, *pairs.values()})
    for name, other in pairs.items():
        path, target = os.path.join(folder, name), os.path.join(folder, other)
        files.write(path, samples.read(name).data)
        if checking.validate(path).worst is Severity.ERROR:
            raise FormatError("a bundled sample is not valid", place=Place(path), code="demo")
        count = converting.convert(path, target)
        if api.load(target) != api.load(path):
            message = "the converted file differs from the original"
            raise FormatError(message, place=Place(target), code="demo")
        yield Step(name, other, count)


def _converted(name: str) -> str:
    """Return the name of a sample's converted file.

    The converted file has another format of the sample's family; if there is none, it is a copy.
    """
    fmt = formats.detect(b"", name)
    other = next((each for each in formats.of_family(fmt.family) if each != fmt), fmt)
    converted = formats.stem(name) + other.suffix
    is_free = converted not in samples.names()
    return converted if is_free else f"{formats.stem(name)}-again{fmt.suffix}"


def _check(folder: str, own: set[str]) -> None:
    """Raise FileExistsError if a folder has files other than `own`, the files of the demo."""
    others = sorted(set(os.listdir(folder)) - own)
    if others:
        some = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
        reason = f"the folder contains other files ({some}); use another: exset demo FOLDER"
        raise FileExistsError(errno.EEXIST, reason, folder)
