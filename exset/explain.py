"""What each code of a finding means, why it matters and how to mend it.

The one table of all codes is in the text files of `explained`: a code, perhaps how bad it is, and
three paragraphs. `docs/findings.md` is made of it by `exset explain --markdown`.
"""

import os
import re
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from typing import Final

from exset.core.errors import safe

TABLES: Final = (
    "lens.findings",
    "lbann.list_findings",
    "lbann.schema_findings",
    "aeon.manifest_findings",
    "aeon.block_findings",
    "aeon.config.findings",
)
"""The tables of traps, which say how bad a finding is and with which words it is told."""

_WORD = re.compile(r"\{\w+(!r)?\}")
_WIDTH = 96


@dataclass(frozen=True)
class Explanation:
    """What is known of one code."""

    code: str
    family: str
    severity: str
    """How bad it is; several words if that depends."""
    says: tuple[str, ...]
    """How messages begin, with ... for what differs."""
    means: str
    matters: str
    mend: str

    def lines(self) -> Iterator[str]:
        """Yield it as text for a terminal."""
        yield f"{self.code}: {self.severity}"
        for text in (self.means, self.matters, self.mend):
            yield from textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return asdict(self)

    def markdown(self) -> Iterator[str]:
        """Yield it as a section of a page."""
        yield f"### {self.code}\n"
        says = "".join(f' "{text}"' for text in self.says)
        yield f"*{self.severity.capitalize()}.*{says}\n"
        yield f"{self.means}\n"
        yield f"**Why it matters.** {self.matters}\n"
        yield f"**How to mend it.** {self.mend}\n"


def codes() -> tuple[str, ...]:
    """Return all codes, family by family."""
    return tuple(_table())


def explain(code: str) -> Explanation:
    """Return what is known of a code; ValueError that names those that are like it."""
    known = _table().get(code.lower())
    if known is None:
        from difflib import get_close_matches

        like = get_close_matches(code, _table(), cutoff=0.5)
        there = f"; there are {', '.join(like)}" if like else ": exset explain lists all"
        raise ValueError(f"no finding has the code {safe(code)!r}{there}")
    return known


def page() -> str:
    """Return all of it as a page of Markdown."""
    parts = [
        "# Findings\n",
        "Every finding and error has a code, which stays the same from version to version:"
        " `exset explain CODE` says what\nis said here. An error makes a file unusable, a warning"
        " is a trap, a note is good to know.\n",
    ]
    family = ""
    for known in _table().values():
        if known.family != family:
            family = known.family
            parts.append(f"## {family}\n")
        parts += known.markdown()
    return "\n".join(parts)


@cache
def _table() -> dict[str, Explanation]:
    traps = _traps()
    folder = os.path.join(os.path.dirname(__file__), "explained")
    found: dict[str, Explanation] = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            title, *entries = file.read().removeprefix("# ").strip().split("\n\n")
        for entry in entries:
            head, means, matters, mend = entry.split("\n")
            code, _, said = head.partition(" ")
            kinds = traps.get(code, [])
            severities = dict.fromkeys(severity for severity, _ in kinds)
            found[code] = Explanation(
                code=code,
                family=title,
                severity=said.replace(",", " or") or " or ".join(severities) or "error",
                says=tuple(dict.fromkeys(message for _, message in kinds if message != "...")),
                means=means,
                matters=matters.removeprefix("! "),
                mend=mend.removeprefix("> "),
            )
    return found


def _traps() -> dict[str, list[tuple[str, str]]]:
    """Return how bad findings are, and what they say, from the tables of traps."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in TABLES:
        traps = import_module(f"exset.grammars.{name}").RULES
        for code, trap in traps.items():
            message = _WORD.sub("...", trap.message).replace("{{", "{").replace("}}", "}")
            found.setdefault(code, []).append((trap.severity.value, message))
    return found
