"""Read files, and report the system calls of Python that reading must not make.

This program reads JSON: `files` to read; `check_files`, whether to check the files that they name;
`controls`, forbidden actions that it must notice. It prints JSON: `reports`, `read` and `seen`.
"""

import json
import os
import sys
import sysconfig
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import exset
from exset import formats, samples
from exset.core import disk_cache, kernels
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.families.format import Format

# Audit events of running a program, using the network, or changing files.
FORBIDDEN = (
    *("subprocess.", "socket.", "ctypes.", "pty.", "os.exec", "os.spawn", "os.posix_spawn"),
    *("os.system", "os.fork", "os.startfile", "os.kill", "os.putenv", "os.remove", "os.rename"),
    *("os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate"),
    *("os.utime", "os.chdir", "shutil.", "tempfile.", "urllib.", "http.", "ftplib.", "smtplib."),
    *("webbrowser.", "pickle.", "marshal.", "code.__new__", "sys.settrace", "signal."),
)
CODE = ("exec", "compile")
LOADING = ("marshal.loads", "code.__new__")


def places() -> tuple[str, ...]:
    """Return the folders of Python, of the libraries and of exset."""
    found = {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, "/proc/"}
    for name in ("exset", "exset.parsers", "exset.codecs", "exset.runtime", "exset.grammars"):
        spec = find_spec(name)
        assert spec is not None
        found |= {os.path.realpath(each) for each in spec.submodule_search_locations or ()}
        found |= {*(spec.submodule_search_locations or ())}
    return tuple(os.path.join(each, "") for each in found if each)


class Watch:
    """An audit hook: collects forbidden events while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.loading = 0
        self.allowed: set[str] = set()
        self.read = places()
        self.cache = os.path.join(disk_cache.folder(), "")
        self.reports: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        self.on = False  # ignore the events of this method
        try:
            if why := self._wrong(event, arguments):
                self.reports.append(why)
        finally:
            self.on = True

    def _wrong(self, event: str, arguments: tuple[Any, ...]) -> str:
        """Return a description of a forbidden event, or an empty text."""
        if event == "open":
            return self._opening(*arguments[:2])
        if event in CODE:
            name = arguments[0] if event == "exec" else arguments[1]
            name = getattr(name, "co_filename", name)
            if isinstance(name, bytes):
                name = os.fsdecode(name)
            if event == "compile" and name == "<unknown>":
                return ""  # ast.parse makes a tree and runs nothing: NumPy reads NPY headers so
            is_ours = str(name).startswith("<frozen ") or self._is_ours(str(name))
            return "" if is_ours or importing() else f"{event} {name}"
        if event in LOADING:
            return "" if importing() else event
        if event.startswith("os.") and self._is_in_cache(arguments):
            return ""
        return f"{event} {arguments!r}"[:300] if event.startswith(FORBIDDEN) else ""

    def _is_in_cache(self, arguments: tuple[Any, ...]) -> bool:
        """Whether all paths are in exset's own cache."""
        paths = [os.path.join(each, "") for each in arguments if isinstance(each, str)]
        return bool(paths) and all(path.startswith(self.cache) for path in paths)

    def _opening(self, path: object, mode: object) -> str:
        if isinstance(path, int):
            return ""
        name = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]
        if name in self.allowed or name.startswith(self.cache):
            return ""
        if self._is_ours(name) and not {*str(mode or "r")} & {*"wax+"}:
            return ""
        return f"open {name} {mode}"

    def _is_ours(self, name: str) -> bool:
        return name.startswith(self.read)


def importing() -> bool:
    """Whether Python is importing a module."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_filename == "<frozen importlib._bootstrap_external>":
            return True
    return False


def dialects(fmt: Format) -> tuple[str, ...]:
    option = fmt.option("dialect", reading=True)
    return option.choices if option else ()


def warm_up() -> None:
    """Import everything that any format needs; h5py runs `uname` when it is imported."""
    from exset.runtime.aeon import config_files, manifest_files
    from exset.runtime.lbann import list_files

    assert list_files and manifest_files and config_files
    formats.load_plugins()
    for name in samples.names():
        exset.stats(exset.load(f"exset::{name}"))
    files = (b"", b"{}", b"\xaa\xaa\xaa\xaa", b"a: [1]\n", b"x" * 100)
    for fmt in formats.of_files():
        for dialect, data in product(("", *dialects(fmt)), files):
            try:
                fmt.read(Source("nothing", data), dialect=dialect)
            except FormatError:
                continue


def use(path: str, watch: Watch, check_files: bool = False) -> None:
    """Read a file with load, stats and, on request, validate."""
    base = os.path.dirname(path)
    watch.allowed = {os.path.abspath(path)}
    watch.on = True
    try:
        findings = exset.Findings()
        model = exset.load(path, findings=findings)
        exset.stats(model)
        if check_files:
            names: list[str] = []
            if isinstance(model, exset.LoaderConfig):
                names = [str(model["manifest_filename"])]
            if isinstance(model, exset.SampleList):
                names = [file.path for file in model.files]
                labels = os.fsdecode(model.label_file or b"")
                names += [labels, *(labels + suffix for suffix in formats.COMPRESSED)]
            watch.allowed |= {os.path.abspath(os.path.join(base, name)) for name in names}
            exset.validate(path, check_files=True, base=base)
    except (FormatError, OSError):
        pass
    finally:
        watch.on = False


def main() -> None:
    """Read the JSON input, read the files, and print the report."""
    request = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    setattr(kernels.Kernels, "use_compiled", lambda *_: False)  # noqa: B010  # plain Python is enough here
    warm_up()
    watch = Watch()
    sys.addaudithook(watch)
    reports: dict[str, list[str]] = {}
    for path in request["files"]:
        use(path, watch, request["check_files"])
        if watch.reports:
            reports[path] = watch.reports
            watch.reports = []
    seen = []
    for act in request["controls"]:  # each of them must be reported
        watch.on = True
        try:
            CONTROLS[act]()
        except Exception:
            pass
        finally:
            watch.on = False
        seen.append(bool(watch.reports))
        watch.reports = []
    json.dump({"reports": reports, "read": len(request["files"]), "seen": seen}, sys.stdout)


def _eval() -> None:
    exec("x = 1")


def _run() -> None:
    import subprocess

    subprocess.run(["true"], check=False)


def _talk() -> None:
    import socket

    socket.create_connection(("127.0.0.1", 9), timeout=0.1)


def _pickle() -> None:
    import pickle

    pickle.loads(pickle.dumps(Path))


CONTROLS: dict[str, Callable[[], object]] = {
    "exec": _eval,
    "subprocess": _run,
    "socket": _talk,
    "pickle": _pickle,
    "system": lambda: os.system("true"),
    "open": lambda: open("/etc/hostname").close(),
    "write": lambda: open(os.path.join(os.path.dirname(exset.__file__), "no", "x"), "w").close(),
    "remove": lambda: os.remove("/nonexistent/x"),
    "marshal": lambda: __import__("marshal").loads(b"N"),
}

if __name__ == "__main__":
    main()
