"""Count classes, and draw the counts."""

from collections import Counter
from collections.abc import Iterable

from exset.core.text import counted
from exset.runtime.pictures.kinds import Bars, shortened

SHOWN = 200
"""The most bars of a picture."""


def class_balance(labels: Iterable[bytes | str | float], of: str, axis: str) -> Bars:
    """Return a picture of how many units, such as records, each class has. The largest class is
    first.

    labels: the class of each unit. of: what is counted, such as "classes of column 1". axis: the
    word for units, in the plural, such as "records". Raises ValueError without units.
    """
    counts = Counter(labels)
    if not counts:
        raise ValueError(f"there is nothing to draw: no {axis}")
    rows = ((_text(label), count) for label, count in counts.most_common())
    return bars(rows, f"{of}, {counted(len(counts), 'value')}", axis)


def bars(counts: Iterable[tuple[str, int]], of: str, axis: str) -> Bars:
    """Return a picture of the first counts. counts: pairs (name, number).

    of: what is counted, such as "classes of column 1". axis: the word for the counted things, in
    the plural.
    """
    rows = list(counts)
    shown = rows[:SHOWN]
    note = ""
    if len(rows) > SHOWN:
        total = sum(count for _, count in rows[SHOWN:])
        note = f"the first {SHOWN} of {len(rows):,}; the others have {total:,} {axis}"
    return Bars(
        names=[shortened(name) or "(empty)" for name, _ in shown],
        counts=[count for _, count in shown],
        of=of,
        axis=axis,
        note=note,
    )


def _text(label: bytes | str | float) -> str:
    if isinstance(label, bytes):
        return label.decode("utf-8", "surrogateescape")
    return label if isinstance(label, str) else f"{label:g}"
