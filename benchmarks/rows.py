"""The results of a benchmark: rows of figures, as a table and as JSON."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TypeAlias

from benchmarks.measure import Spread, short

Figure: TypeAlias = str | float | Spread | None
Figures: TypeAlias = dict[str, Figure]
"""Figures by their names, which are the same in all rows of a section."""

Cases: TypeAlias = Iterator[tuple[str, Callable[[], Figures]]]
"""The rows of a section: their names, and the functions that measure them."""


@dataclass(frozen=True)
class Row:
    """The figures of one case."""

    section: str
    name: str
    figures: Figures

    def to_dict(self) -> dict[str, object]:
        """Return the row for JSON; a spread is an object of three numbers."""
        figures = {
            name: asdict(figure) if isinstance(figure, Spread) else figure
            for name, figure in self.figures.items()
        }
        return {"section": self.section, "name": self.name, **figures}


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table of the rows of one section."""
    rows = list(rows)
    head = ["", *rows[0].figures]
    body = [[row.name, *map(_text, row.figures.values())] for row in rows]
    wide = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    for cells in (head, ["-" * width for width in wide], *body):
        yield "| " + " | ".join(map(str.ljust, cells, wide)) + " |"


def _text(figure: Figure) -> str:
    if figure is None:
        return ""
    return short(figure) if isinstance(figure, float) else str(figure)
