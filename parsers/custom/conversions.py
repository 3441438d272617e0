"""The types of terminals: numbers or text. Options of the caller, or comments in the grammar,
declare them.

Such a comment is at the end of the line that defines or imports the terminal: `// @float32`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from exset.core.kernels import ENTRY, Kernels, array_type, entry_kernel, mark_of

TEXT: Final = "text"

_SIZES: Final = (8, 16, 32, 64)
DTYPES: Final = (
    *(np.dtype(f"{kind}{size}") for kind in ("int", "uint") for size in _SIZES),
    np.dtype("float32"),
    np.dtype("float64"),
)
"""The dtypes that numbers can have."""

Action: TypeAlias = Callable[[Any, Any, Any, Any], int]
"""A function that fills an array with the values of tokens: see `action`."""

F = TypeVar("F", bound=Action)


def action(function: F) -> F:
    """Mark a function that computes the values of a terminal, and return the function unchanged.

    exset calls the function with `buffer` (uint8), `starts` and `ends` (int64), and `values`. The
    function fills `values` with a number for each token `buffer[start:end]`. It returns the number
    of tokens that it converted; the result is smaller than the number of all tokens if the next
    token is wrong. The annotation of each argument is `NDArray` of its dtype.

    For large texts, exset compiles a copy of the function, if a new process can import the
    function's module. The function must then use only numbers, indices, `if`, loops and calls of
    functions marked in the same way.
    """
    entry_kernel(function)
    return function


_COMMENT: Final = re.compile(r'//\s*@\s*([^/"]*?)\s*$')
_DEFINED: Final = re.compile(r"\s*(_?[A-Z][A-Z0-9_]*)\s*(?:\.\s*-?\d+)?\s*:")
_CONTINUED: Final = re.compile(r"\s*\|")
_IMPORTED: Final = re.compile(r"\s*%import\s+[\w.]*?([A-Z]\w*)(?:\s*->\s*(\w+))?\s*//")


@dataclass(frozen=True)
class Conversion:
    """How to convert the tokens of a terminal.

    dtype: the dtype of the numbers; None for text, which must be UTF-8. action: the function that
    computes the numbers; None if the tokens are numerals. kernels: the compiler of the module that
    has the action; None if a new process cannot import this module.
    """

    dtype: "np.dtype[Any] | None"
    action: Action | None = None
    kernels: Kernels | None = None

    def run(self, *arrays: NDArray[Any]) -> int:
        """Call the action on arrays. Call its compiled copy if the text is long and the copy is
        ready.

        The function in plain Python gets views of the arrays. The elements of a view are Python's
        numbers, which cannot overflow.
        """
        assert self.action is not None
        if self.kernels is not None and self.kernels.use_compiled(len(arrays[0])):
            return int(self.kernels.compiled(self.action)(*arrays))
        return int(self.action(*(each.data for each in arrays)))


def conversions(
    text: str, numbers: Mapping[str, "DTypeLike | Action"], texts: Iterable[str]
) -> dict[str, Conversion]:
    """Return the conversion of each terminal whose type options or comments declare.

    text: the grammar. numbers, texts: the options, which override comments. Raises ValueError for
    an invalid declaration.
    """
    found = dict(_of_comments(text))
    groups: dict[str, Kernels] = {}
    for name, what in numbers.items():
        if mark_of(what) == ENTRY:
            found[name] = _of_action(name, what, groups)  # type: ignore[arg-type]
        else:
            found[name] = Conversion(_dtype(f"numbers: {name}", what))  # type: ignore[arg-type]
    for name in texts:
        if name in numbers:
            raise ValueError(f"{name} is both in numbers and in text")
        found[name] = Conversion(None)
    return found


def _of_comments(text: str) -> Iterable[tuple[str, Conversion]]:
    name = None
    for number, line in enumerate(text.splitlines(), 1):
        if defined := _DEFINED.match(line):
            name = defined[1]
        elif imported := _IMPORTED.match(line):
            name = imported[2] or imported[1]
        elif not _CONTINUED.match(line):
            name = None
        if comment := _COMMENT.search(line):
            if name is None:
                what = comment[0].strip()
                raise ValueError(f"line {number}: {what} is not on the line of a terminal")
            what = comment[1]
            place = f"line {number}: {name}"
            yield name, Conversion(None if what == TEXT else _dtype(place, what))


def _dtype(place: str, what: DTypeLike) -> "np.dtype[Any]":
    try:
        dtype = np.dtype(what)
    except TypeError:
        dtype = None
    if dtype is None or dtype not in DTYPES:
        listed = ", ".join(map(str, DTYPES))
        raise ValueError(f"{place} cannot be of the type {what}: choose one of {listed}, or text")
    return dtype


def _of_action(name: str, action: Action, groups: dict[str, Kernels]) -> Conversion:
    """Return the conversion of a terminal by an action, a function that computes its values.

    name: the terminal. groups: the kernels of each module, which this function extends. The
    annotation of the action's fourth parameter, `values`, gives the dtype of the values. Raises
    ValueError for an action that does not have these parameters.
    """
    hints = get_type_hints(action)
    hints.pop("return", None)
    arrays = [*hints.values()]
    try:
        dtype = np.dtype(get_args(get_args(array_type(arrays[3]))[1])[0])
    except (IndexError, TypeError):
        dtype = None
    if len(arrays) != 4 or dtype is None or dtype.kind not in "biuf":
        raise ValueError(
            f"numbers: the action of {name} needs four arguments: buffer: NDArray[np.uint8], "
            "starts and ends: NDArray[np.int64], and values, an array of numbers"
        )
    module = action.__module__
    if module not in groups and _is_importable(module):
        groups[module] = Kernels(module)
    return Conversion(dtype, action, groups.get(module))


def _is_importable(module: str) -> bool:
    """Return whether a new process can import a module. It cannot import a script or a notebook."""
    try:
        spec = None if module == "__main__" else find_spec(module)
    except (ImportError, ValueError):
        spec = None
    return spec is not None and spec.has_location
