"""`exset demo`: the bundled samples written, checked, converted and read back, before your eyes."""

import errno
import os
import shlex
from collections.abc import Iterator

from exset import api, files, formats, samples, streaming
from exset.errors import FormatError, Place, Severity


def run(folder: str) -> Iterator[str]:
    """Write every sample into a folder, validate it, convert it and compare; yield what to say.

    Raises FileExistsError if the folder holds files that are not the demo's own, and OSError.
    """
    pairs = {name: _converted(name) for name in samples.names()}
    os.makedirs(folder, exist_ok=True)
    _check(folder, {*pairs, *pairs.values()})
    yield f"In {folder}:"
    wide = max(map(len, pairs))
    for name, other in pairs.items():
        path, target = os.path.join(folder, name), os.path.join(folder, other)
        files.write(path, samples.read(name).data)
        if api.validate(path).worst is Severity.ERROR:
            raise FormatError("a bundled sample is not valid", place=Place.of(path), code="demo")
        count = streaming.convert(path, target)
        if api.load(target) != api.load(path):
            raise FormatError("it did not read back the same", place=Place.of(target), code="demo")
        counted = api.target_format(target).family.counted(count)
        yield f"  {name:<{wide}}  valid, {counted}  ->  {other}, which reads back the same"
    yield "Try next:"
    for verb, name in (
        ("info", "pulse.ex"),
        ("head -n 1", "xor-binary.bex"),
        ("validate", "xor-sparse.ex"),
        ("config show", "pictures.json"),
        ("convert --to ex -o -", "groups.bex"),
    ):
        yield f"  exset {verb} {shlex.quote(os.path.join(folder, name))}"


def _converted(name: str) -> str:
    """Return the name of a sample in the other format of its family, or written again."""
    known = formats.by_suffix(name)
    assert known is not None
    other = next((each for each in formats.of_family(known.family) if each != known), None)
    return formats.stem(name) + (other.suffix if other else f"-again{known.suffix}")


def _check(folder: str, own: set[str]) -> None:
    """Refuse a folder with files that the demo did not write."""
    strange = sorted(set(os.listdir(folder)) - own)
    if strange:
        some = ", ".join(strange[:3]) + (", ..." if len(strange) > 3 else "")
        reason = f"the folder holds other files ({some}); name another, as in: exset demo FOLDER"
        raise FileExistsError(errno.EEXIST, reason, folder)
