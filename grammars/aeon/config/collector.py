"""Collect the findings of a configuration. The place of a finding is in the text, or a member's
path.
"""

import re
from dataclasses import replace
from typing import Final

from exset.core.errors import Finding, Findings, Place, Severity
from exset.core.source import Source, Span
from exset.grammars.aeon.config.findings import RULES, Problem, finding_at, titled
from exset.grammars.columns.tree import Node

IMAGES: Final = frozenset(
    ("image", "pixelmask", "boundingbox", "localization", "localization_rcnn", "localization_ssd")
)
"""The etl types that use the members of an image augmentation."""


class Invalid(Exception):
    """Raised for a value that aeon refuses. The finding has been added before."""


class Collector:
    """Collects the findings of a configuration.

    error: the first error, at which aeon stops, or None. refused: the path of the member with this
    error. more_errors: the other errors. notes: notes on the choice of the version. others: all
    other findings.
    """

    def __init__(self, tree: Node, source: Source | str) -> None:
        self.error: Finding | None = None
        self.refused = ""
        self.more_errors = Findings()
        self.notes = Findings()
        self.others = Findings()
        self.etl_types = _types(tree, "etl")
        self._is_image = _types(tree, "augmentation")[:1] == ["image"]
        self._last: dict[tuple[str, bool], Finding] = {}
        self._tree = tree
        self._source = source

    @property
    def error_count(self) -> int:
        """The number of errors."""
        return (self.error is not None) + self.more_errors.count()

    def add(self, problem: Problem) -> None:
        """Add the finding for a problem."""
        path = problem.path
        span = problem.span or _span_at(self._tree, path)
        self.report(problem.code, path, span, what=problem.what, hint=problem.hint)

    def report(self, code: str, path: str, span: Span | None, **words: object) -> Invalid:
        """Add a finding. Return an exception, which the caller can raise if aeon refuses the value.

        path: the path of the member with the value. span: the value in the text, None if unknown.
        words: the values in the message, or functions that return the values; these are called only
        if the finding is kept. If aeon ignores the value at the path, an error becomes a warning.
        """
        unread = self._is_unread(code, path)
        severity = RULES.severity(code)
        is_error = severity is Severity.ERROR and not unread
        findings = self.more_errors if is_error else self.others
        if findings.count(code) >= findings.keep:
            findings.add(self._last[code, is_error])
            return Invalid()
        made = {name: word() if callable(word) else word for name, word in words.items()}
        made = {"where": titled(path), "hint": "", **made}
        found = finding_at(code, self._place(path, span), **made)
        if severity is Severity.ERROR and unread:
            why = "aeon does not read this part, so it reports no error"
            hint = f"{found.hint}; {why}" if found.hint else why
            found = replace(found, severity=Severity.WARNING, hint=hint)
        if is_error and self.error is None:
            self.error, self.refused = found, path
        else:
            findings.add(found)
            self._last[code, is_error] = found
        return Invalid()

    def _is_unread(self, code: str, path: str) -> bool:
        """Return whether aeon never reads the value at `path`, so that it cannot find the error
        `code`.

        aeon uses only the first object in `augmentation`, and only the parts of this object that
        the etl types need.
        """
        if not path.startswith("augmentation[") or code == "aeon-unknown":
            return False
        if not path.startswith("augmentation[0]"):
            # aeon requires a type in every object, even in objects that it does not use.
            return code != "aeon-missing" or ".frame" in path
        inner = path.removeprefix("augmentation[0]")
        if not inner or not self._is_image:
            return False
        if re.match(r"\.frame\b", inner):
            return "video" not in self.etl_types or inner.startswith(".frame.frame")
        return IMAGES.isdisjoint(self.etl_types)

    def _place(self, path: str, span: Span | None) -> Place:
        """Return the place for a finding, which is `span` in the text.

        If the configuration was not read from text, the place is `path`.
        """
        if isinstance(self._source, str):
            return Place(self._source, field=path or None)
        if span is None:
            return Place(self._source.name)
        return Place.in_text(self._source, span)


def start_of(node: Node) -> Span | None:
    """Return the span of a value. For an object, return the span of its opening brace."""
    if node.span is None or not isinstance(node.content, dict):
        return node.span
    return Span(node.span.start, node.span.start + 1)


def _span_at(tree: Node, path: str) -> Span | None:
    """Return the span of the value at a path.

    If the value is missing, return the span of the object in which it is missing.
    """
    node = tree
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        if index:
            node = node.items[int(index)]
        elif name in node.members:
            node = node.members[name].value
        else:
            break
    return start_of(node)


def _types(tree: Node, name: str) -> list[str]:
    if name not in tree.members:
        return []
    types = (each.members.get("type") for each in tree.members[name].value.items)
    return [each.value.content for each in types if each and isinstance(each.value.content, str)]
