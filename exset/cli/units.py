"""Parse values of options: which units of a model to use, and the sizes of a network."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from exset import formats
from exset.cli.output import data_error, data_errors, usage_error
from exset.conditions import matcher
from exset.core.errors import LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.core.protocols import Model
from exset.core.text import safe

if TYPE_CHECKING:
    from exset.grammars.columns.arrays import Longs

_SLICE = re.compile(r"(-?\d+)|(-?\d*):(-?\d*)(?::(-?\d*))?", re.ASCII)


def check_count(model: Model, path: str, limits: Limits) -> None:
    """Raise LimitError if a model has too many units: a short range of ids may mean very many."""
    if len(model) > limits.max_expand:
        count = formats.family_of(model).counted(len(model))
        message = f"the file has {count}, more than the limit of {limits.max_expand:,}"
        raise LimitError(message, place=Place(path), hint=limit_hint("max_expand"))


def chosen_units(model: Model, chosen: tuple[str, ...]) -> "Longs | None":
    """Return the indices of the units that the user chose, each once. Return None for all units.

    `chosen`: indices, slices and patterns of names. Raises UsageError if one of them selects no
    unit.
    """
    import numpy as np

    if not chosen:
        return None
    family = formats.family_of(model)
    numbers: list[int] = []
    names: list[bytes] = []
    for each in chosen:
        match = _SLICE.fullmatch(each)
        found: list[int] | range
        if match is None:
            with data_errors():
                names = names or list(family.names_of(model))
            found = _matching(names, matcher(each))
        elif match[1] is not None:
            index = int(match[1])
            found = range(len(model))[index : None if index == -1 else index + 1]
        else:
            first, end, step = (int(part) if part else None for part in match.groups()[1:])
            if step == 0:
                usage_error(f"{each} has a step of 0")
            found = range(len(model))[first:end:step]
        if not found:
            data_error(f"'{safe(each)}' selects none of the {family.counted(len(model))}")
        numbers += found
    return np.array(list(dict.fromkeys(numbers)), np.int64)


def _matching(names: list[bytes], matches: Callable[[bytes], bool]) -> list[int]:
    return [i for i, name in enumerate(names) if matches(name)]


def layout_of(side: str, values: tuple[str, ...]) -> "dict[str, int] | int | None":
    """Parse an option with sizes of groups, or with a number of units. Return None without it.

    `side`: the option, `inputs` or `targets`. `values`: the values of the option. Raises UsageError
    for other values.
    """
    if not values:
        return None
    from exset.runtime.lens.network_layout import layout_of_text

    try:
        return layout_of_text(",".join(values))
    except ValueError as error:
        usage_error(f"--{side} {safe(str(error))}")
