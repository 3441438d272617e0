"""Edit models between `load` and `save`: filter, sort, shuffle and rename units, map inputs.

All models have `select`, which can also reorder units, and `concat`. A table of columns has
`with_columns`. Functions never change a model: they return a new model.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from exset import formats
from exset.conditions import Condition, is_one_of, substitution
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, Selectable
from exset.core.text import with_article
from exset.families.family import Family
from exset.runtime.lens.mapping import add_noise, map_inputs, map_targets

if TYPE_CHECKING:
    from exset.grammars.columns.arrays import Flags

__all__ = [
    "add_noise",
    "drop",
    "keep",
    "map_inputs",
    "map_targets",
    "rename",
    "shuffle",
    "sort",
]

M = TypeVar("M", bound=Model)
S = TypeVar("S", bound=Selectable)


def keep(model: S, /, *conditions: str, **values: Iterable[object]) -> S:
    """Return a model of the units for which every condition holds.

    A condition is a field, one of `=`, `!=`, `<`, `<=`, `>`, `>=`, and a value, such as
    "events>=3". For a field of text, the value is a pattern, such as "name=v_*". A keyword argument
    names a field and lists the exact values that it may have, such as `name=["cat", "dog"]`.

    The fields are `name`; `events` and `frequency` of examples; `file` and `id` of samples;
    `label`, or the number of a column from 0, of records; and the columns of tables. Raises
    ValueError for an invalid condition or an unknown field. Raises TypeError for a model that has
    no units to select, such as a schema.
    """
    mask = _mask(model, conditions, values, True)
    return model.select(mask)


def drop(model: S, /, *conditions: str, **values: Iterable[object]) -> S:
    """Return a model without the units for which any condition holds.

    The arguments are those of `keep`.
    """
    mask = _mask(model, conditions, values, False)
    return model.select(~mask)


def sort(model: S, by: str, *, descending: bool = False) -> S:
    """Sort the units by one of the fields that `keep` lists. Text is compared by its bytes.

    Units with equal values keep their order. In a sample list, the samples of a file stay together.
    Raises ValueError for an unknown field.
    """
    import numpy as np

    values = _family(model).values_of(model, by)
    if isinstance(values, np.ndarray):
        order = np.argsort(values[::-1] if descending else values, kind="stable")
        return model.select(len(values) - 1 - order[::-1] if descending else order)
    texts = list(values)
    rows = sorted(range(len(texts)), key=texts.__getitem__, reverse=descending)
    return model.select(np.array(rows, np.int64))


def shuffle(model: S, *, seed: int, limits: Limits = DEFAULT) -> S:
    """Shuffle the units (NumPy's PCG64); the same seed always gives the same order.

    In a sample list, exset shuffles the files, and the samples of each file. Raises LimitError for
    too many samples.
    """
    return cast(S, _family(model).shuffled(model, seed, limits))


def rename(
    model: M, names: Mapping[str, str] | Callable[[str], str], *, what: str | None = None
) -> M:
    """Change the names of units, or other names in a model.

    `names`: a mapping of old names to new names, or a function that returns the new name for an old
    name. In a mapping, a `*` in an old name matches any text, and a `*` in the new name inserts
    this text. The first old name that matches counts. A name without a match stays unchanged.

    `what`: the kind of names to change, by default the first kind that the model has:

    - "name" or "group" of an example set
    - "file" of a sample list
    - "name" (the first field) or "label" (the last field) of a manifest
    - "column" of a table

    Raises ValueError for unknown and for invalid names. Also raises ValueError if two groups, files
    or columns would get the same name.
    """
    change = names if callable(names) else _changed(names)
    return cast(M, formats.family_of(model).renamed(model, change, what))


def _family(model: Model) -> Family:
    """Return the family of a model that can select units. Raises TypeError for other models."""
    family = formats.family_of(model)
    if not isinstance(model, Selectable):
        raise TypeError(f"the {family.unit}s of {with_article(family.noun)} cannot be selected")
    return family


def _changed(names: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that renames a name by the mapping `names` of patterns to new names.

    The first pattern that matches counts.
    """
    substitutions = [substitution(old, new) for old, new in names.items()]

    def change(name: str) -> str:
        found = (substitute(name) for substitute in substitutions)
        return next((new for new in found if new is not None), name)

    return change


def _mask(
    model: Model,
    conditions: Iterable[str],
    values: Mapping[str, Iterable[object]],
    every: bool,
) -> "Flags":
    """Return, for each unit, whether every condition holds; if `every` is False, whether any does.

    values: the values that fields may have, by field.
    """
    import numpy as np

    _family(model)
    mask = np.full(len(model), every)
    for condition in conditions:
        found = Condition.of(condition)(model)
        mask = mask & found if every else mask | found
    for field, exact in values.items():
        found = is_one_of(model, field, exact)
        mask = mask & found if every else mask | found
    return mask
