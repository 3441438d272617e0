"""The explanation of each code of a finding: what it means, why it matters, how to fix it.

The records of formats name the texts. A text begins with a title, `# Lens example files`. Then
follow the codes, with a blank line between them:

    lens-bare-word warning
    What the finding means.
    ! Why it matters.
    > How to fix it.

The severity after the code is for codes that no table of findings has; without it such a code is an
error. `python -m tests.findings` writes the pages in `docs/findings`.
"""

import os
import re
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from typing import Final

from exset import formats
from exset.core.errors import safe
from exset.families.format import Format

GENERAL: Final = "exset:explained/general.txt"
"""The text about findings of any file."""

_WORD = re.compile(r"\{\w+(!r)?\}")
_WIDTH = 96


@dataclass(frozen=True)
class Explanation:
    """The explanation of one code.

    `family`: the title of the text that has it. `severity`: several words if that depends. `says`:
    how messages begin, with ... for the parts that vary.
    """

    code: str
    family: str
    severity: str
    says: tuple[str, ...]
    means: str
    matters: str
    fix: str

    def lines(self) -> Iterator[str]:
        """Yield it as text for a terminal."""
        yield f"{self.code}: {self.severity}"
        for text in (self.means, self.matters, self.fix):
            yield from textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return asdict(self)

    def markdown(self) -> Iterator[str]:
        """Yield it as a section of a page."""
        says = "".join(f' "{text}"' for text in self.says)
        yield f"## {self.code}\n"
        yield f"*{self.severity.capitalize()}.*{says}\n"
        yield f"{self.means}\n"
        yield f"**Why it matters.** {self.matters}\n"
        yield f"**How to fix it.** {self.fix}\n"


def codes() -> tuple[str, ...]:
    """Return all codes, family by family."""
    return tuple(_table(formats.all_formats()))


def explain(code: str) -> Explanation:
    """Return the explanation of a code; raises ValueError that names similar codes."""
    for search in (formats.all_formats, _with_plugins):
        table = _table(search())
        if (found := table.get(code.lower())) is not None:
            return found
    from difflib import get_close_matches

    similar = get_close_matches(code, table, cutoff=0.5)
    there = f"; there are {', '.join(similar)}" if similar else ": exset explain lists all"
    raise ValueError(f"no finding has the code {safe(code)!r}{there}")


def pages() -> dict[str, str]:
    """Return the pages of all explanations in Markdown, by their file names."""
    return {
        os.path.basename(text).replace(".txt", ".md"): "\n".join(
            [f"# {_title(text)}\n", *(line for each in found.values() for line in each.markdown())]
        )
        for text in _texts(formats.FORMATS)
        if (found := _explanations(text, _messages(formats.FORMATS)))
    }


def _with_plugins() -> tuple[Format, ...]:
    formats.load_plugins()
    return formats.all_formats()


def _texts(among: tuple[Format, ...]) -> tuple[str, ...]:
    """Return the texts of some formats, then the general one."""
    return tuple(dict.fromkeys((*(text for fmt in among for text in fmt.explanations), GENERAL)))


@cache
def _table(among: tuple[Format, ...]) -> dict[str, Explanation]:
    messages = _messages(among)
    return {
        code: found
        for text in _texts(among)
        for code, found in _explanations(text, messages).items()
    }


def _blocks(text: str) -> list[str]:
    """Return the title and the entries of a text that is named as "package:path"."""
    package, _, path = text.partition(":")
    folder = os.path.dirname(import_module(package).__file__ or "")
    with open(os.path.join(folder, path), encoding="utf-8") as file:
        return file.read().removeprefix("# ").strip().split("\n\n")


def _title(text: str) -> str:
    return _blocks(text)[0]


def _explanations(text: str, messages: dict[str, list[tuple[str, str]]]) -> dict[str, Explanation]:
    title, *entries = _blocks(text)
    found = {}
    for entry in entries:
        head, means, matters, fix = entry.split("\n")
        code, _, severity = head.partition(" ")
        rules = messages.get(code, [])
        severities = dict.fromkeys(severity for severity, _ in rules)
        found[code] = Explanation(
            code=code,
            family=title,
            severity=severity.replace(",", " or") or " or ".join(severities) or "error",
            says=tuple(dict.fromkeys(message for _, message in rules if message != "...")),
            means=means,
            matters=matters.removeprefix("! "),
            fix=fix.removeprefix("> "),
        )
    return found


def _messages(among: tuple[Format, ...]) -> dict[str, list[tuple[str, str]]]:
    """Return the severities and messages of each code, from the tables of findings."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in dict.fromkeys(name for fmt in among for name in fmt.findings):
        for code, rule in import_module(name).RULES.items():
            message = _WORD.sub("...", rule.message).replace("{{", "{").replace("}}", "}")
            found.setdefault(code, []).append((rule.severity.value, message))
    return found
