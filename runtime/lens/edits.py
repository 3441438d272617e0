"""Fields and names of example sets, for `exset.edit`."""

from collections.abc import Callable

import numpy as np

from exset.grammars.columns.arrays import Floats, Longs
from exset.grammars.lens.examples import ExampleSet


def event_counts(examples: ExampleSet) -> Longs:
    """Return the number of events of each example: int64 [n]."""
    return np.diff(examples.event_offsets)


def frequencies(examples: ExampleSet) -> Floats:
    """Return the frequency of each example: float32 [n]."""
    return examples.frequency


def with_names(examples: ExampleSet, change: Callable[[str], str]) -> ExampleSet:
    """Return a set in which `change` has replaced each name. A missing name stays missing.

    `change` gets a name and returns the new name.
    """
    return examples.with_columns(name=examples.name.changed(change))


def with_groups(examples: ExampleSet, change: Callable[[str], str]) -> ExampleSet:
    """Return a set in which `change` has replaced the name of each group.

    `change` gets a name and returns the new name. Raises ValueError if two groups get the same
    name.
    """
    groups = examples.groups.changed(change)
    names = groups.tolist()
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"two groups would have the name {groups.text(number)!r}")
        if not name:
            raise ValueError(f"the group {examples.groups.text(number)!r} would have no name")
    return examples.with_columns(groups=groups)
