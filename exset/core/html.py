"""Show models as HTML tables in notebooks: the first rows, and how many rows follow.

Long text is cut, and text is escaped. The tables contain no styles.
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Protocol

from exset.core.text import safe

SHOWN = 10
"""How many rows a table has at most, and how many cells a row."""

_LONGEST = 80
"""How many characters a cell has at most; a title may have three times this number."""


def table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    total: int,
    most: int = SHOWN,
) -> str:
    """Return an HTML table with a title, a head for each column, and the first rows of `rows`.

    `total`: the number of all rows. `most`: how many rows to show at most; no later rows are taken
    from `rows`.
    """
    body = [_row("td", row) for row in islice(rows, most)]
    more = total - len(body)
    left = f"<p>and {more:,} more</p>" if more > 0 else ""
    head = f"<thead>{_row('th', heads)}</thead>"
    rest = f"<tbody>{''.join(body)}</tbody>"
    return f"<div><p>{_cell(title, 3 * _LONGEST)}</p><table>{head}{rest}</table>{left}</div>"


class _Finding(Protocol):
    """The attributes of a finding that `finding_table` needs; `exset.Finding` has all of them."""

    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def place(self) -> object: ...
    @property
    def hint(self) -> str | None: ...


def finding_table(title: str, findings: "Iterable[_Finding]", total: int) -> str:
    """Return findings as an HTML table, with their places. `total`: the number of all findings."""
    heads = ("severity", "place", "message", "hint", "code")
    rows = (
        (
            each.severity,
            "" if each.place is None else each.place,
            each.message,
            each.hint or "",
            each.code,
        )
        for each in findings
    )
    return table(title, heads, rows, total)


def text(data: bytes | None) -> str:
    """Return the beginning of a text, with escapes for invalid UTF-8. Return "" for None."""
    return (data or b"")[: 4 * _LONGEST + 4].decode("utf-8", "surrogateescape")


def _row(kind: str, cells: Sequence[object]) -> str:
    shown = [_cell(str(cell)) for cell in cells[:SHOWN]]
    if len(cells) > SHOWN:
        shown.append("…")
    return "<tr>" + "".join(f"<{kind}>{cell}</{kind}>" for cell in shown) + "</tr>"


def _cell(text: str, most: int = _LONGEST) -> str:
    return escape(safe(text if len(text) <= most else text[: most - 1] + "…"))
