"""Explain each code of a finding: what it means, why it matters, how to fix the file.

The records of formats name the files that declare and explain the findings; see
`exset.grammars.columns.findings`.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from exset import formats
from exset.core.text import safe
from exset.families.format import Format
from exset.grammars.columns.findings import Rules

# A variable part of a message, such as {name!r}, or a count with its noun, {count:sample}.
_VARIABLE = re.compile(r"\{\w+(?:!r)?(?::((?:[^{}]|\{\w+\})+))?\}")


@dataclass(frozen=True)
class Explanation:
    """The explanation of one code of a finding.

    `family`: the title of the file that declares the code. `severity`: one word, or several words
    if the severity varies. `says`: the messages of findings with this code, with ... for the parts
    that vary.
    """

    code: str
    family: str
    severity: str
    says: tuple[str, ...]
    means: str
    matters: str
    fix: str

    def lines(self) -> Iterator[str]:
        """Yield the lines of the explanation, for a terminal."""
        yield f"{self.code}: {self.severity}"
        for text in (self.means, self.matters, self.fix):
            yield from textwrap.wrap(text, 96, initial_indent="  ", subsequent_indent="    ")


def codes() -> tuple[str, ...]:
    """Return all codes, grouped by family."""
    return tuple(_table(formats.all_formats()))


def explain(code: str) -> Explanation:
    """Return the explanation of a code. An unknown code raises ValueError with similar codes."""
    table = _table(formats.all_formats())
    if code.lower() not in table:
        formats.load_plugins()
        table = _table(formats.all_formats())
    if code.lower() in table:
        return table[code.lower()]
    from difflib import get_close_matches

    similar = get_close_matches(code, table, cutoff=0.5)
    there = f": did you mean {' or '.join(similar)}?" if similar else ": exset explain lists all"
    raise ValueError(f"no finding has the code {safe(code)!r}{there}")


def _varied(variable: re.Match[str]) -> str:
    return f"... {_VARIABLE.sub('...', variable[1])}s" if variable[1] else "..."


def texts(among: tuple[Format, ...]) -> dict[str, Rules]:
    """Return, by file name, the rules that formats declare, and the general rules."""
    names = [name for fmt in among for name in fmt.findings]
    return {name: Rules(name) for name in (*names, "exset.core:general.findings")}


@cache
def _table(among: tuple[Format, ...]) -> dict[str, Explanation]:
    found = texts(among)
    return {each.code: each for rules in found.values() for each in _explained(rules, found)}


def _explained(rules: Rules, texts: dict[str, Rules]) -> Iterator[Explanation]:
    """Yield the explanation of each code in `rules`. texts: all rules, to find their messages."""
    for code, rule in rules.items():
        if not rule.means:
            continue
        declared = [each[code] for each in texts.values() if code in each]
        severities = (word for each in declared for word in each.severity.split(" or "))
        messages = (each.message for each in declared if each.message)
        says = dict.fromkeys(_VARIABLE.sub(_varied, message) for message in messages)
        yield Explanation(
            code=code,
            family=rules.title,
            severity=" or ".join(dict.fromkeys(severities)),
            says=tuple(each for each in says if each != "..."),
            means=rule.means,
            matters=rule.matters,
            fix=rule.fix,
        )
