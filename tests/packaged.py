"""Grammars and layouts inside packages of the registry, which exset runs unmodified.

`python -m tests.packaged 10000` draws as many files of each, half of them damaged, and compares
exset with Lark and with Construct. Packages that are not installed are left out.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import construct as cs
from lark import Lark

import exset
from tests.codecs import drawn_files
from tests.parsers import drawn_texts
from tests.parsers.trees import parser

GRAMMARS = {
    "mappyfile": "mappyfile/mapfile.lark",
    "lark": "lark/grammars/lark.lark",
    "outlines": "outlines/grammars/json.lark",
    "beancount_parser": "beancount_parser/grammar/beancount.lark",
}
REFUSED_GRAMMARS = {"hcl2": ("hcl2/hcl2.lark", "terminal HEREDOC_TEMPLATE has a back-reference")}
LAYOUTS = {
    "key": ("regipy/structs.py", "CM_KEY_NODE"),
    "log": ("regipy/structs.py", "TRANSACTION_LOG"),
    "cues": ("pyrekordbox/anlz/structs.py", "PCOB"),
    "settings": ("pyrekordbox/mysettings/structs.py", "MySetting"),
    "token": ("spl/token/_layouts.py", "INSTRUCTIONS_LAYOUT"),
}
REFUSED_LAYOUTS = {
    "beats": ("pyrekordbox/anlz/structs.py", "PQT2", "StopIf; write If around the fields"),
}


def file_in(name: str) -> Path | None:
    """Return the path of a file of a package, without importing it; None if it is not there."""
    package, _, rest = name.partition("/")
    spec = find_spec(package)
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((path for each in folders if (path := Path(each) / rest).exists()), None)


def grammar(path: Path) -> tuple[exset.Grammar, Lark]:
    """Return a grammar as exset and as Lark run it."""
    made = exset.compile_grammar(path)
    lark = parser(path.read_text(), import_paths=[str(path.parent)])
    return made, lark


def declaration(path: Path, name: str) -> cs.Construct:
    """Return a declaration of a module, whose package is not imported."""
    spec = spec_from_file_location(f"packaged_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def compare_grammar(path: Path, count: int, seed: int = 1) -> int:
    """Compare exset with Lark; return how many texts both accept."""
    made, lark = grammar(path)
    texts = drawn_texts.Drawing(made, seed).texts(count)
    return sum(drawn_texts.compare(made, lark, text) for text in texts)


def compare_layout(declared: cs.Construct, count: int, seed: int = 1) -> int:
    """Compare exset with Construct; return how many files both accept."""
    layout = exset.compile_layout(declared)
    files = drawn_files.Drawing(layout, seed).files(count)
    return sum(drawn_files.compare(declared, layout, data) for data in files)


def report(name: str, count: int, compare: Callable[[], int]) -> None:
    """Run a comparison, and print how many files were accepted."""
    begin = time.process_time()
    accepted = compare()
    seconds = time.process_time() - begin
    print(f"{name}: {accepted} of {count} accepted, all equal, {seconds:.0f} s", flush=True)


def main() -> None:
    """Compare all that is installed, and print the counts."""
    count = int(sys.argv[1])
    for name in GRAMMARS.values():
        if path := file_in(name):
            report(name, count, partial(compare_grammar, path, count))
    for name, what in LAYOUTS.values():
        if path := file_in(name):
            report(what, count, partial(compare_layout, declaration(path, what), count))


if __name__ == "__main__":
    main()
