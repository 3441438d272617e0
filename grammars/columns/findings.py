"""Read the texts that declare findings. A finding has a code, a message and an explanation.

A text begins with a title, `# Lens example files`. The findings follow, separated by empty lines:

    lens-bare-word
    severity: warning
    message: {word} is a bare word: Lens reads it as the name of a group
    hint: put the word in quotation marks
    means: What the finding means.
    matters: Why it matters.
    fix: How to fix it.

`{count:sample}` in a message is a count with its noun: `1 sample`, `2 samples`.

A code without a message belongs to errors whose messages are in the source code. If a code has
several severities, such as `error or note`, a finding with the declared message has the first
severity. Two texts may declare messages for the same code; only one of these texts explains it.
`python -m tests.findings` writes the pages `docs/findings` from all texts.
"""

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from numbers import Integral
from typing import NamedTuple

from exset.core.errors import Finding, Place, Severity
from exset.core.text import Count


class Rule(NamedTuple):
    """The declaration of the findings with one code: severity, message, hint and explanation."""

    severity: str
    message: str = ""
    hint: str = ""
    means: str = ""
    matters: str = ""
    fix: str = ""


class Rules(Mapping[str, Rule]):
    """A mapping from each code to its rule.

    It is read on first use from the text "package:path".
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def title(self) -> str:
        """The title of the text."""
        return self._content[0]

    @cached_property
    def _content(self) -> tuple[str, dict[str, Rule]]:
        package, _, path = self._text.partition(":")
        folder = os.path.dirname(import_module(package).__file__ or "")
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            title, *entries = file.read().removeprefix("# ").strip().split("\n\n")
        rules = {}
        for entry in entries:
            code, *lines = entry.split("\n")
            rules[code] = Rule(**dict(line.split(": ", 1) for line in lines))
        return title, rules

    def __getitem__(self, code: str) -> Rule:
        return self._content[1][code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content[1])

    def __len__(self) -> int:
        return len(self._content[1])

    def severity(self, code: str) -> Severity:
        """Return the severity of the findings of a code."""
        return Severity(self[code].severity.partition(" ")[0])

    def finding(self, code: str, place: Place | None, /, **words: object) -> Finding:
        """Make a finding from its code. words: the values for the message and the hint.

        `{count:event}` in a message becomes `1 event` or `2 events`.
        """
        rule = self[code]
        for name, word in words.items():
            if isinstance(word, Integral) and not isinstance(word, bool):
                words[name] = Count(word)
        message, hint = rule.message.format(**words), rule.hint.format(**words) or None
        severity = self.severity(code)
        return Finding(code=code, severity=severity, message=message, place=place, hint=hint)
