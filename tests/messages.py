"""Messages as users see them: cases in text files.

A case has a title, files, and commands with their output:

    === a word instead of a number
    >>> a.ex
    I: 1 five;
    $ validate a.ex
    a.ex:1:6: ...
    $ . exset.load("a.ex")
    a.ex:1:6: ...

A backslash after the name of a file allows escapes in its content: `\\xff`, and `{48*\\0}` for a
repetition; such a content ends without a line break. `x from y` converts the file `y` to `x`; then
`47=ff00` replaces the bytes from offset 47 on, and `47=` cuts the file there. An HDF5 file has a
line for each dataset, `a/x = [1.0]`, and for each link, `a/y -> /a/x` or `a/z -> other.h5:/a`.

A command that begins with a dot is Python. Lines that begin with `%` are commands that run first;
their output is ignored, and `:=` keeps a value. `change`, `lack` and `lend` replace parts of exset
or of libraries during the case. `*` matches files, as in a shell. `python -m tests.messages` writes
the current output into the files of cases: read the difference before you commit it.
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
from exset.core import plugins
from exset.core.errors import Findings, FormatError
from exset.families import family
from exset.io.access import Access
from tests.aeon import cpio_files
from tests.lens import bex_builder

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "messages"


@dataclass
class Case:
    """Files, and commands with their expected output."""

    title: str
    files: dict[str, bytes] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    expected: str = ""
    """The commands, each followed by its output."""
    source: str = ""
    """The rest of the case: its title, files and commands that run first."""


def cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    found: list[Case] = []
    for block in re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, rest = block.partition("\n$ ")
        expected = f"$ {rest}".strip("\n")
        before = re.findall(r"^% (.*)", head, flags=re.MULTILINE)
        text = re.sub(r"^% .*\n?", "", head + "\n", flags=re.MULTILINE)
        title, *files = re.split(r"^>>> ", text, flags=re.MULTILINE)
        commands = re.findall(r"^\$ (.*)", expected, flags=re.MULTILINE)
        case = Case(title.strip(), before=before, commands=commands, expected=expected)
        case.source = f"=== {head}\n"
        for file in files:
            name, _, content = file.partition("\n")
            escaped = name.endswith("\\")
            case.files[name.rstrip("\\ ")] = unescaped(content) if escaped else content.encode()
        found.append(case)
    return found


def unescaped(text: str) -> bytes:
    """Return the bytes of a text with escapes."""

    def repeated(match: re.Match[bytes]) -> bytes:
        return match[2] * int(match[1])

    raw = text.replace("\n", "").encode("latin-1").decode("unicode_escape").encode("latin-1")
    return re.sub(rb"\{(\d+)\*(.+?)\}", repeated, raw, flags=re.DOTALL)


def run(case: Case) -> str:
    """Run a case in a new folder with its files; return what both streams show."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.ExitStack() as changes,
    ):
        names = _NAMES | {
            "change": lambda *words: changes.enter_context(patch(*words)),
            "lack": lambda name: changes.enter_context(_module(name, None)),
            "lend": lambda name, new: changes.enter_context(_module(name, new)),
            "packages": lambda: changes.enter_context(_packages()),
        }
        for name, content in case.files.items():
            _write(name, content)
        for line in case.before:
            _output(line, names)
        shown = "\n".join(f"$ {line}\n{_output(line, names)}".strip("\n") for line in case.commands)
        shown = re.sub(r"import of \S+ halted; .*", "MESSAGE OF PYTHON", shown)
        shown = re.sub(r"Unable to synchronously open file \(.*?\)", "MESSAGE OF HDF5", shown)
        shown = re.sub(r"pyarrow: .*?\)(?= \[)", "MESSAGE OF PYARROW)", shown)
        return _without_lists(shown.replace(folder, "FOLDER"))


def _without_lists(text: str) -> str:
    """Return a message with a word for each list that grows with the registry."""
    names = formats.names()
    lists = {
        "FORMAT NAMES": ", ".join(names),
        "TEXT FORMATS": ", ".join(fmt.name for fmt in formats.FORMATS if not fmt.binary),
        "BINARY FORMATS": ", ".join(fmt.name for fmt in formats.FORMATS if fmt.binary),
        "SUFFIXES": formats.suffixes(formats.FORMATS),
        "SAMPLES": ", ".join(samples.names()),
    }
    for word, listed in lists.items():
        text = text.replace(listed, word)
    text = re.sub("(the suffixes for an? [^:]* are ).*", r"\1SUFFIXES", text)
    return re.sub("(formats that can store an? [^:]*: ).*", r"\1FORMATS", text)


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


def _output(line: str, names: dict[str, object]) -> str:
    return _python(line, names) if line.startswith(".") else _command(line)


def _command(line: str) -> str:
    words = [glob.glob(word) or [word] for word in line.split()]
    result = CliRunner().invoke(cli, [each for found in words for each in found], prog_name="exset")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def _python(line: str, names: dict[str, object]) -> str:
    failed = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            eval(line.removeprefix(". "), names)
        except NameError:  # a mistake in the case itself
            raise
        except Exception as error:
            failed.append(words(error))
    return "\n".join([*(str(each.message) for each in caught), *failed])


def words(error: Exception) -> str:
    """Return the last line of a traceback; for FormatError without the class."""
    return str(error) if isinstance(error, FormatError) else f"{type(error).__name__}: {error}"


def _at(pattern: str) -> str:
    """Return the one path that matches a pattern."""
    (found,) = glob.glob(pattern)
    return found


def _put(name: str, data: bytes) -> None:
    """Write a file."""
    Path(name).write_bytes(data)


def _show(findings: Findings) -> None:
    """Issue findings as Python warnings, which the output includes."""
    for finding in findings:
        warnings.warn(str(finding), stacklevel=1)


def _failing(error: BaseException) -> Callable[..., NoReturn]:
    """Return a function that raises this error."""

    def failing(*args: object, **words: object) -> NoReturn:
        raise error

    return failing


@contextlib.contextmanager
def _module(name: str, new: object) -> Iterator[None]:
    """Replace a module; unlike `patch.dict`, keep modules that are first imported meanwhile."""
    old = sys.modules.get(name)
    sys.modules[name] = new  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
        if old is not None:
            sys.modules[name] = old


@contextlib.contextmanager
def _packages() -> Iterator[None]:
    """Make the packages in this folder importable, as if they were installed."""

    def forget() -> None:
        plugins.found.cache_clear()
        formats._added.clear()
        family.load.cache_clear()
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(os.getcwd()):
                del sys.modules[name]

    with patch.object(sys, "path", [os.getcwd(), *sys.path]):
        forget()
        yield
        forget()


def _cloud(error: BaseException | None = None) -> MagicMock:
    """Return a substitute for fsspec, in which every file raises this error."""
    cloud = MagicMock()
    cloud.available_protocols.return_value = ["memory", "s3"]
    kind = cloud.get_filesystem_class.return_value
    kind._get_kwargs_from_urls.return_value = {}
    kind.return_value.open.side_effect = kind.return_value.put_file.side_effect = error
    return cloud


def _steps(*values: object) -> Callable[..., object]:
    """Return a function that returns these values one after the other, then the last one again."""
    left = list(values)
    return lambda *args: left.pop(0) if len(left) > 1 else left[0]


_NAMES = {"exset": exset, "np": np, "h5py": h5py, "os": os, "at": _at, "put": _put}
_NAMES |= {
    "errno": errno,
    "namespace": SimpleNamespace,
    "failing": _failing,
    "put_out": output.write_stdout,
    "steps": _steps,
    "cloud": _cloud,
}
_NAMES |= {
    "module": lambda name: import_module(f"exset.{name}"),
    "lib": import_module,
    "replace": replace,
}
_NAMES |= {"bex": bex_builder, "cpio": cpio_files, "show": _show}
_NAMES |= {"access": lambda *roots: Access(roots=roots), "bz2": bz2, "lzma": lzma}


def main() -> None:
    """Write the current output into the files of cases."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.txt")):
        preface = path.read_text("utf-8").partition("=== ")[0]
        text = "\n".join(f"{case.source}{run(case)}\n" for case in cases(path))
        path.write_text(preface + text, "utf-8")


if __name__ == "__main__":
    main()
