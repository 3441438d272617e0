"""The errors of JSON and YAML files that exceed a limit."""

from exset.core.errors import LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source, Span
from exset.grammars.columns.tree import DEEPEST


def check_size(source: Source, limits: Limits, language: str) -> None:
    """Raise LimitError if a file has more than `max_text` bytes; language: "JSON" or "YAML"."""
    if len(source.content) > limits.max_text:
        message = f"the file has more than {limits.max_text:,} bytes of {language}"
        raise LimitError(message, source=source, hint=limit_hint("max_text"))


def too_deep(source: Source, span: Span | None, limits: Limits) -> LimitError:
    """Return the error for a node that is nested too deeply."""
    message = f"lists and objects are nested more than {min(limits.max_depth, DEEPEST)} levels deep"
    return LimitError(message, source=source, span=span, hint=limit_hint("max_depth"))


def too_many(source: Source, span: Span | None, limits: Limits, what: str = "values") -> LimitError:
    """Return the error for too many nodes in a file; what: the word for nodes in the message."""
    message = f"the file has more than {limits.max_nodes:,} {what}"
    return LimitError(message, source=source, span=span, hint=limit_hint("max_nodes"))


def too_long(source: Source, span: Span, limits: Limits, unit: str) -> LimitError:
    """Return the error for a text that is too long.

    unit: the unit in which the length is counted, such as bytes.
    """
    message = f"this text has more than {limits.max_name:,} {unit}"
    return LimitError(message, source=source, span=span, hint=limit_hint("max_name"))
