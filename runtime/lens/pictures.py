"""Pictures of example sets: heat maps, timelines, grids, similarity, clusters and components."""

from typing import Final

import numpy as np

from exset.grammars.lens.examples import ExampleSet
from exset.runtime.lens.network_layout import SIDES
from exset.runtime.lens.plot_rows import ROWS, PictureRows, picture_rows
from exset.runtime.pictures import patterns
from exset.runtime.pictures.kinds import (
    Grid,
    HeatMap,
    Panel,
    Timeline,
)
from exset.runtime.pictures.of_patterns import PatternPictures
from exset.runtime.pictures.options import PictureOptions
from exset.runtime.pictures.patterns import Patterns

_TICKS = 4
"""The ticks in an interval of time of a timeline, unless the user gives their number."""


def units(examples: ExampleSet, options: PictureOptions) -> HeatMap:
    """Return inputs and targets, with one row for each event. With `ticks`, each row is a tick."""
    shown = _rows(examples, options, options.ticks)
    is_ticks = options.ticks is not None
    return HeatMap(
        panels=_panels(shown),
        labels=shown.labels,
        heads=shown.heads,
        axis="example and event" if not is_ticks else "example, event and tick",
        missing=_missing(is_ticks),
        note=shown.cut or "",
        is_small=is_ticks,
    )


def timeline(examples: ExampleSet, options: PictureOptions) -> Timeline:
    """Return inputs and targets tick by tick, with time from left to right."""
    ticks = _TICKS if options.ticks is None else options.ticks
    shown = _rows(examples, options, ticks)
    return Timeline(
        panels=_panels(shown),
        labels=shown.labels,
        heads=shown.heads,
        axis="tick",
        missing=_missing(True),
        note=shown.cut or "",
        ticks=ticks,
    )


def grid(examples: ExampleSet, options: PictureOptions) -> Grid:
    """Return patterns as small pictures, which are squares by default.

    Raises ValueError if the number of units of a pattern does not fit the size of the pictures.
    """
    found = _patterns(examples, options, patterns.SIMILAR)
    return patterns.grid(found, options.grid or patterns.square(found))


def _rows(
    examples: ExampleSet, options: PictureOptions, ticks: int | None, most: int = ROWS
) -> PictureRows:
    return picture_rows(
        examples,
        options.which,
        options.inputs,
        options.targets,
        ticks=ticks,
        most=most,
        findings=options.findings,
        limits=options.limits,
    )


def _panels(shown: PictureRows) -> list[Panel]:
    arrays = shown.arrays
    layouts = arrays.input_layout, arrays.target_layout
    masks = arrays.input_mask, arrays.target_mask
    # In float64, no difference of two float32 is infinite.
    return [
        Panel(side, getattr(arrays, side).astype(np.float64), valid, layout.groups)
        for side, layout, valid in zip(SIDES, layouts, masks, strict=True)
        if layout.units
    ]


def _missing(is_ticks: bool) -> str:
    return "no value (NaN, or grace)" if is_ticks else "no value (NaN)"


def _patterns(examples: ExampleSet, options: PictureOptions, most: int) -> Patterns:
    """Return the inputs or the targets of up to `most` (a number) events as patterns.

    By default these are the inputs, or the targets if the inputs have no units.
    """
    shown = _rows(examples, options, None, most)
    panels = {panel.name: panel for panel in _panels(shown)}
    side = options.side or next(iter(panels))
    if side not in panels:
        raise ValueError(f"there is nothing to draw: the examples have no {side}")
    panel, names = panels[side], shown.full_labels
    if not shown.cut:
        total = len(names)
    else:
        which = slice(None) if options.which is None else options.which
        total = int(np.diff(examples.event_offsets)[which].sum())
    return Patterns(panel.values, panel.valid, names, side, total)


of_patterns: Final = PatternPictures(_patterns)
"""Draws the inputs, or targets, of events."""
similarity, dendrogram = of_patterns.similarity, of_patterns.dendrogram
components = of_patterns.components
