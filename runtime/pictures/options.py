"""The options of a picture."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from exset.core.errors import Findings
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import Longs
from exset.io.access import DEFAULT_ACCESS, Access


@dataclass(frozen=True, kw_only=True)
class PictureOptions:
    """The options of a picture. Each kind of picture uses some of them.

    name: the name of the model in messages. which: int64, the examples or records to draw. inputs,
    targets: the layout of a network, as in `to_arrays`. side: "inputs" or "targets". ticks: the
    number of ticks in an interval of time. grid: (height, width) of a pattern. column: the column
    with classes or images. base: the folder in which relative paths start. access: which files may
    be opened.
    """

    name: str = "<model>"
    which: Longs | None = None
    inputs: Mapping[str, int] | int | None = None
    targets: Mapping[str, int] | int | None = None
    side: str | None = None
    ticks: int | None = None
    grid: tuple[int, int] | None = None
    column: str | None = None
    base: str = ""
    access: Access = DEFAULT_ACCESS
    limits: Limits = DEFAULT
    findings: Findings = field(default_factory=Findings)
