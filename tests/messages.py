"""Messages as users see them: cases in text files, and which places of the source they come from.

A file of cases has, for each, a title, files, a command and what it says:

    === a number that is none
    >>> a.ex
    I: 1 five;
    $ validate a.ex
    a.ex:1:6: ...

The content of a file whose name is followed by a backslash has escapes (`\\xff`), `{48*\\0}`
repeats, and ends without a line break. One `from` another is that, converted; then bytes from an
offset on are replaced, `47=ff00`, or cut off, `47=`. An HDF5 file has a line for each dataset,
`a/x = [1.0]`, and each link, `a/y -> /a/x` or `a/z -> other.h5:/a`. A command that begins with a
dot is Python, and lines that begin with `%` are commands that come before it, whatever they say.
`*` finds files, as in a shell. `python -m tests.messages` writes what is said today; read it before
you keep it.
"""

import ast
import bz2
import contextlib
import glob
import lzma
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import h5py
import numpy as np
from click.testing import CliRunner

import exset
from exset import errors, formats
from exset.access import Access
from exset.cli import cli
from exset.errors import Findings
from tests import cpio_files, lens_bex

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "messages"
Site = tuple[str, int]
_NOT_SAID = {"place", "span", "findings", "code", "source", "field", "hint"}
_TRAPS = {"trap", "trap_of", "Finding", "FormatError", "LimitError"}


@dataclass
class Case:
    """Files, a command, and what it says."""

    title: str
    files: dict[str, bytes] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    command: str = ""
    said: str = ""
    source: str = ""
    """All but what it says, as the file of cases has it."""


def cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    found: list[Case] = []
    for block in re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, dollar, rest = block.partition("\n$ ")
        command, _, said = rest.partition("\n")
        before = re.findall(r"^% (.*)", head, flags=re.MULTILINE)
        given = re.sub(r"^% .*\n?", "", head + "\n", flags=re.MULTILINE)
        title, *files = re.split(r"^>>> ", given, flags=re.MULTILINE)
        case = Case(title.strip(), before=before, command=command, said=said.strip("\n"))
        case.source = f"=== {head}{dollar}{command}\n"
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
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, content in case.files.items():
            _write(name, content)
        for line in (*case.before, case.command):
            said = _python(line) if line.startswith(".") else _command(line)
        said = re.sub(r"Unable to synchronously open file \(.*?\)", "WHAT HDF5 SAYS", said)
        return said.replace(folder, "FOLDER").strip("\n")


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


def _command(line: str) -> str:
    words = [glob.glob(word) if "*" in word else [word] for word in line.split()]
    result = CliRunner().invoke(cli, [each for found in words for each in found])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def _python(line: str) -> str:
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            eval(line.removeprefix(". "), _KNOWN)
    except (errors.FormatError, ValueError, TypeError) as error:
        return str(error)
    return "\n".join(str(each.message) for each in told)


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


_KNOWN = {"exset": exset, "np": np, "h5py": h5py, "os": os, "at": _at, "put": _put}
_KNOWN |= {"bex": lens_bex, "cpio": cpio_files, "show": _show}
_KNOWN |= {"access": lambda *roots: Access(roots=roots), "bz2": bz2, "lzma": lzma}


@contextlib.contextmanager
def watched(seen: set[Site]) -> Iterator[None]:
    """Collect the lines of exset's source that findings and errors come from."""
    plain = errors.Finding.__init__

    def watching(self: errors.Finding, *args: object, **words: object) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(str(ROOT)) and "/tests/" not in name:
                seen.add((str(Path(name).resolve().relative_to(ROOT)), frame.f_lineno))
            frame = frame.f_back
        plain(self, *args, **words)  # type: ignore[arg-type]

    errors.Finding.__init__ = watching  # type: ignore[method-assign]
    try:
        yield
    finally:
        errors.Finding.__init__ = plain  # type: ignore[method-assign]


def sites() -> dict[tuple[str, int, int], str]:
    """Return the calls that make findings and errors: file, first and last line; and their code.

    Those of functions that only pass a message on are among them.
    """
    found = {}
    for folder in ("exset", "grammars", "parsers", "codecs", "runtime"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if (
                path.resolve().relative_to(ROOT) != path.relative_to(ROOT)
                or "testing" in path.parts
            ):
                continue
            tree = ast.parse(path.read_bytes())
            makers = _TRAPS | set(_passing(tree))
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and _called(node) in makers:
                    last = node.end_lineno or node.lineno
                    name = str(path.relative_to(ROOT))
                    found[name, node.lineno, last] = " ".join(ast.unparse(node).split())[:120]
    return found


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def _passing(tree: ast.Module) -> Iterator[str]:
    """Yield the functions of a module that say what they are given to say."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and _called(node) in _TRAPS:
                words = [*node.args, *(each.value for each in node.keywords)]
                names = {each.id for each in words if isinstance(each, ast.Name)}
                if names & given - _NOT_SAID:
                    yield function.name


def main() -> None:
    """Write what is said today into the files of cases."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.txt")):
        preface = path.read_text("utf-8").partition("=== ")[0]
        text = "\n".join(f"{case.source}{run(case)}\n" for case in cases(path))
        path.write_text(preface + text, "utf-8")


if __name__ == "__main__":
    main()
