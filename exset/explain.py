"""The explanation of each code of a finding: what it means, why it matters, how to fix it.

The records of formats name the texts that declare findings and explain them; see
`exset.grammars.columns.findings`.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Final

from exset import formats
from exset.core.text import safe
from exset.families.format import Format
from exset.grammars.columns.findings import Rules

GENERAL: Final = "exset.core:general.findings"
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
    found = {}
    texts = _texts(formats.FORMATS)
    for name, rules in texts.items():
        page = name.rpartition(":")[2].replace(".findings", ".md")
        lines = [line for each in _explained(rules, texts) for line in each.markdown()]
        found[page] = "\n".join([f"# {rules.title}\n", *lines])
    return found


def _with_plugins() -> tuple[Format, ...]:
    formats.load_plugins()
    return formats.all_formats()


def _texts(among: tuple[Format, ...]) -> dict[str, Rules]:
    """Return the texts of some formats, then the general one, by their names."""
    names = [name for fmt in among for name in fmt.findings]
    return {name: Rules(name) for name in (*names, GENERAL)}


@cache
def _table(among: tuple[Format, ...]) -> dict[str, Explanation]:
    texts = _texts(among)
    return {found.code: found for rules in texts.values() for found in _explained(rules, texts)}


def _explained(rules: Rules, texts: dict[str, Rules]) -> Iterator[Explanation]:
    """Yield the explanations of one of some texts, with the messages of all of them."""
    for code, rule in rules.items():
        if not rule.means:
            continue
        declared = [each[code] for each in texts.values() if code in each]
        severities = (word for each in declared for word in each.severity.split(" or "))
        messages = [_WORD.sub("...", each.message) for each in declared if each.message]
        yield Explanation(
            code=code,
            family=rules.title,
            severity=" or ".join(dict.fromkeys(severities)),
            says=tuple(dict.fromkeys(each for each in messages if each != "...")),
            means=rule.means,
            matters=rule.matters,
            fix=rule.fix,
        )
