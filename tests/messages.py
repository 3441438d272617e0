"""Messages as users see them: cases in text files.

A file of cases has, for each, a title, files, and commands and what they say:

    === a number that is none
    >>> a.ex
    I: 1 five;
    $ validate a.ex
    a.ex:1:6: ...
    $ . exset.load("a.ex")
    a.ex:1:6: ...

The content of a file whose name is followed by a backslash has escapes (`\\xff`), `{48*\\0}`
repeats, and ends without a line break. One `from` another is that, converted; then bytes from an
offset on are replaced, `47=ff00`, or cut off, `47=`. An HDF5 file has a line for each dataset,
`a/x = [1.0]`, and each link, `a/y -> /a/x` or `a/z -> other.h5:/a`. A command that begins with a
dot is Python, and lines that begin with `%` are commands that come before it, whatever they say;
`:=` keeps a value for the next. There `change` and `lack` change exset or its libraries for as long
as the case lasts. `*` finds files, as in a shell. `python -m tests.messages` writes what is said
today; read it before you keep it.
"""

import ast
import bz2
import contextlib
import errno
import glob
import lzma
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn
from unittest.mock import MagicMock, patch

import h5py
import numpy as np
from click.testing import CliRunner

import exset
from exset import formats, samples
from exset.cli import cli, output
from exset.core import notices, plugins
from exset.core.errors import Findings, FormatError
from exset.families import family
from exset.io.access import Access
from tests.aeon import cpio_files
from tests.lens import bex_builder

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "messages"


@dataclass
class Case:
    """Files, commands, and what they say."""

    title: str
    files: dict[str, bytes] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    said: str = ""
    """The commands, each with what it says below."""
    source: str = ""
    """All but these, as the file of cases has it."""


def cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    found: list[Case] = []
    for block in re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, rest = block.partition("\n$ ")
        said = f"$ {rest}".strip("\n")
        before = re.findall(r"^% (.*)", head, flags=re.MULTILINE)
        given = re.sub(r"^% .*\n?", "", head + "\n", flags=re.MULTILINE)
        title, *files = re.split(r"^>>> ", given, flags=re.MULTILINE)
        commands = re.findall(r"^\$ (.*)", said, flags=re.MULTILINE)
        case = Case(title.strip(), before=before, commands=commands, said=said)
        case.source = f"=== {head}\n"
        for file in files:
            name, _, content = file.partition("\n")
            escaped = name.endswith("\\")
            case.files[name.rstrip("\\ ")] = unescaped(content) if escaped else content.encode()
        found.append(case)
    return found


def unescaped(text: str) -> bytes:
    """Return what a text with escapes stands for."""

    def repeated(match: re.Match[bytes]) -> bytes:
        return match[2] * int(match[1])

    raw = text.replace("\n", "").encode("latin-1").decode("unicode_escape").encode("latin-1")
    return re.sub(rb"\{(\d+)\*(.+?)\}", repeated, raw, flags=re.DOTALL)


def run(case: Case) -> str:
    """Return what a case says, on both streams, in a folder that has its files alone."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.ExitStack() as changes,
    ):
        known = _KNOWN | {
            "change": lambda *words: changes.enter_context(patch(*words)),
            "lack": lambda name: changes.enter_context(patch.dict(sys.modules, {name: None})),
            "lend": lambda name, new: changes.enter_context(patch.dict(sys.modules, {name: new})),
            "listen": lambda: changes.enter_context(notices.listening(warnings.warn)),
            "packages": lambda: changes.enter_context(_packages()),
        }
        for name, content in case.files.items():
            _write(name, content)
        for line in case.before:
            _said(line, known)
        said = "\n".join(f"$ {line}\n{_said(line, known)}".strip("\n") for line in case.commands)
        said = re.sub(r"import of \S+ halted; .*", "WHAT PYTHON SAYS", said)
        said = re.sub(r"Unable to synchronously open file \(.*?\)", "WHAT HDF5 SAYS", said)
        return _without_lists(said.replace(folder, "FOLDER"))


def _without_lists(text: str) -> str:
    """Return a message with a word for each list that grows with the registry."""
    names = formats.names()
    lists = {
        "FORMATS": ", ".join(f"{fmt.name} ({fmt.title})" for fmt in formats.FORMATS),
        "FORMAT NAMES": ", ".join(names),
        "SUFFIXES": ", ".join(suffix for fmt in formats.FORMATS for suffix in fmt.suffixes),
        "SAMPLES": ", ".join(samples.names()),
    }
    for word, listed in lists.items():
        text = text.replace(listed, word)
    return re.sub("(formats that can hold one: ).*", r"\1FORMATS", text)


def _write(entry: str, content: bytes) -> None:
    name, _, recipe = entry.partition(" from ")
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if re.search(rb" (=|->) ", content) and path.suffix == ".h5":
        return _write_hdf5(path, content.decode())
    path.write_bytes(content)
    if recipe:
        source, *patches = recipe.split()
        model = exset.load(source, findings=Findings())
        data = exset.dumps(model, format=formats.detect(b"", name).name, findings=Findings())
        for at, _, new in (patch.partition("=") for patch in patches):
            raw = bytes.fromhex(new)
            data = data[: int(at)] + raw + (data[int(at) + len(raw) :] if raw else b"")
        path.write_bytes(data)


def _write_hdf5(path: Path, text: str) -> None:
    with h5py.File(path, "w") as file:
        for line in text.splitlines():
            name, mark, value = re.split(" (=|->) ", line)
            other, colon, target = value.partition(":")
            if mark == "=":
                file[name] = ast.literal_eval(value)
            elif colon:
                file[name] = h5py.ExternalLink(other, target)
            else:
                file[name] = h5py.SoftLink(value)


def _said(line: str, known: dict[str, object]) -> str:
    return _python(line, known) if line.startswith(".") else _command(line)


def _command(line: str) -> str:
    words = [glob.glob(word) or [word] for word in line.split()]
    result = CliRunner().invoke(cli, [each for found in words for each in found], prog_name="exset")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def _python(line: str, known: dict[str, object]) -> str:
    failed = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            eval(line.removeprefix(". "), known)
        except NameError:  # a slip of the case's own
            raise
        except Exception as error:
            failed.append(words(error))
    return "\n".join([*(str(each.message) for each in told), *failed])


def words(error: Exception) -> str:
    """Return what the last line of a traceback says, of exset's own errors without the class."""
    return str(error) if isinstance(error, FormatError) else f"{type(error).__name__}: {error}"


def _at(pattern: str) -> str:
    """Return the one path that a pattern finds."""
    (found,) = glob.glob(pattern)
    return found


def _put(name: str, data: bytes) -> None:
    """Write a file."""
    Path(name).write_bytes(data)


def _show(findings: Findings) -> None:
    """Say what was found, as warnings, which are what Python says."""
    for finding in findings:
        warnings.warn(str(finding), stacklevel=1)


def _failing(error: BaseException) -> Callable[..., NoReturn]:
    """Return a function that fails so."""

    def failing(*args: object, **words: object) -> NoReturn:
        raise error

    return failing


@contextlib.contextmanager
def _packages() -> Iterator[None]:
    """Have the packages in this folder be installed."""

    def forget() -> None:
        plugins.found.cache_clear()
        formats._added.clear()
        family.load.cache_clear()
        for name, known in list(sys.modules.items()):
            if str(getattr(known, "__file__", None)).startswith(os.getcwd()):
                del sys.modules[name]

    with patch.object(sys, "path", [os.getcwd(), *sys.path]):
        forget()
        yield
        forget()


def _cloud(error: BaseException | None = None) -> MagicMock:
    """Return what stands for fsspec, where every file fails so."""
    cloud = MagicMock()
    cloud.available_protocols.return_value = ["memory", "s3"]
    kind = cloud.get_filesystem_class.return_value
    kind._get_kwargs_from_urls.return_value = {}
    kind.return_value.open.side_effect = kind.return_value.put_file.side_effect = error
    return cloud


def _steps(*given: object) -> Callable[..., object]:
    """Return a function that gives these, one after the other, and then the last again."""
    left = list(given)
    return lambda *args: left.pop(0) if len(left) > 1 else left[0]


_KNOWN = {"exset": exset, "np": np, "h5py": h5py, "os": os, "at": _at, "put": _put}
_KNOWN |= {
    "errno": errno,
    "namespace": SimpleNamespace,
    "failing": _failing,
    "put_out": output.write_stdout,
    "steps": _steps,
    "cloud": _cloud,
}
_KNOWN |= {
    "module": lambda name: import_module(f"exset.{name}"),
    "lib": import_module,
    "replace": replace,
}
_KNOWN |= {"bex": bex_builder, "cpio": cpio_files, "show": _show}
_KNOWN |= {"access": lambda *roots: Access(roots=roots), "bz2": bz2, "lzma": lzma}


def main() -> None:
    """Write what is said today into the files of cases."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.txt")):
        preface = path.read_text("utf-8").partition("=== ")[0]
        text = "\n".join(f"{case.source}{run(case)}\n" for case in cases(path))
        path.write_text(preface + text, "utf-8")


if __name__ == "__main__":
    main()
