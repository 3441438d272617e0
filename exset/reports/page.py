"""Write a report as one HTML page, which needs no network and has no scripts.

jinja2 escapes all names and contents of files. The security policy of the page allows only its own
style, and pictures that are part of the page.
"""

import os
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import exset
from exset.core.errors import Finding, Severity
from exset.core.text import safe
from exset.io.named import open_named

_POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class PageTable:
    """A table of texts: its title, the heads of its columns, and its rows."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class PagePicture:
    """A picture: its title, its description in words, and its SVG, which is "" if not drawn."""

    title: str
    words: str
    svg: str = ""


@dataclass(frozen=True)
class PageFinding:
    """A finding: its texts, the meaning of its code, and `pointer`: its line with carets."""

    severity: Severity
    code: str
    place: str
    message: str
    pointer: str
    hint: str
    means: str

    @classmethod
    def of(cls, finding: Finding, means: str = "") -> "PageFinding":
        """Make a `PageFinding` from a finding."""
        place = finding.place
        return cls(
            finding.severity,
            finding.code,
            "" if place is None else str(place),
            safe(finding.message),
            "" if place is None else "\n".join(place.pointer()),
            safe(finding.hint or ""),
            means,
        )


@dataclass
class PageFile:
    """What the page says about a file or a comparison. `sampled`: how much of a file was read."""

    name: str
    about: str
    verdict: str = ""
    sampled: str = ""
    findings: list[PageFinding] = field(default_factory=list)
    tables: list[PageTable] = field(default_factory=list)
    pictures: list[PagePicture] = field(default_factory=list)


def page(title: str, reported: Sequence[PageFile]) -> bytes:
    """Return an HTML page in UTF-8. Raises ImportError without jinja2."""
    try:
        import jinja2
    except ImportError:
        hint = "pip install 'exset[plot]'"
        raise ImportError(f"reports in HTML need jinja2: {hint}") from None
    css, html = (_text_of(each) for each in ("page.css", "page.html"))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(html)
    text = template.render(
        title=safe(title),
        files=reported,
        css=css,
        policy=_POLICY.format(b64encode(sha256(css.encode()).digest()).decode()),
        version=exset.__version__,
    )
    return text.encode("utf-8", "backslashreplace")


def _text_of(name: str) -> str:
    """Return a file of this package as text."""
    with open_named(os.path.join(os.path.dirname(__file__), name), "rb") as file:
        return file.read().decode()
