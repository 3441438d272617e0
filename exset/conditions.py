"""Conditions on the units of a model, such as `name=v_*` and `events>=3`."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from exset import formats
from exset.core.protocols import Model

if TYPE_CHECKING:
    from exset.grammars.columns.arrays import Flags

_FORM: Final = re.compile(
    r"\s*(?P<field>[^=!<>]*[^=!<>\s])\s*(?P<test>!=|<=|>=|=|<|>)\s*(?P<value>.*?)\s*",
    re.DOTALL,
)
_TESTS: Final[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        "=": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
)


@dataclass(frozen=True)
class Condition:
    """A condition on a field of units: the field, the test, and the value to compare with.

    For a field of numbers, the value is a number. For a field of text, the value is a pattern with
    `*`, `?` and `[...]`, and the test is `=` or `!=`.
    """

    field: str
    test: str
    value: str

    @classmethod
    def of(cls, text: str) -> "Condition":
        """Parse a condition. Raises ValueError if the text is not a condition."""
        if (match := _FORM.fullmatch(text)) is None:
            raise ValueError(
                f"{text!r} is not a condition: write one such as name=v_* or events>=3"
            )
        return cls(**match.groupdict())

    def __call__(self, model: Model) -> "Flags":
        """Return, for each unit of a model, whether the condition holds.

        Raises ValueError for an unknown field, and for a test or a value that the field does not
        allow.
        """
        import numpy as np

        values = formats.family_of(model).values_of(model, self.field)
        if isinstance(values, np.ndarray):
            return np.asarray(_TESTS[self.test](values, self._number()), np.bool_)
        if self.test not in ("=", "!="):
            raise ValueError(f"{self.field} is text: compare it with = or !=, not with {self.test}")
        matches = matcher(self.value)
        found = np.fromiter((matches(value) for value in values), np.bool_, len(model))
        return found if self.test == "=" else ~found

    def _number(self) -> float:
        for kind in (int, float):
            try:
                return kind(self.value)
            except ValueError:
                continue
        raise ValueError(f"{self.field} is a number, but {self.value!r} is not")


def is_one_of(model: Model, field: str, exact: Iterable[object]) -> "Flags":
    """Return, for each unit of a model, whether its field has one of the values `exact`.

    Raises ValueError for an unknown field.
    """
    import numpy as np

    from exset.grammars.columns.inputs import items_of, raw

    some = items_of(field, exact, "values")
    values = formats.family_of(model).values_of(model, field)
    if isinstance(values, np.ndarray):
        return np.isin(values, np.array(some))
    names = {raw(field, each if isinstance(each, bytes) else str(each)) for each in some}
    return np.fromiter((value in names for value in values), np.bool_, len(model))


def matcher(pattern: str) -> Callable[[bytes], bool]:
    """Return a function that says whether a name matches a pattern with `*`, `?` and `[...]`."""
    test = re.compile(translate(pattern))
    return lambda name: test.match(name.decode("utf-8", "surrogateescape")) is not None


def substitution(old: str, new: str) -> Callable[[str], str | None]:
    """Return a function that renames: it returns the new name of a name that matches `old`.

    For any other name, the function returns None. A `*` in `old` matches any text. The first `*` in
    `new` inserts the text that the first `*` in `old` matched, and so on. Raises ValueError if
    `new` has more `*` than `old`.
    """
    if new.count("*") > old.count("*"):
        raise ValueError(f"{new!r} has more * than {old!r}")
    test = re.compile("(.*?)".join(map(re.escape, old.split("*"))), re.DOTALL)
    parts = new.split("*")

    def renamed(name: str) -> str | None:
        match = test.fullmatch(name)
        if match is None:
            return None
        return parts[0] + "".join(map(operator.add, match.groups(), parts[1:]))

    return renamed
