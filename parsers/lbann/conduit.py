"""Convert YAML scalars to conduit's types: integer, float, text, or None.

Conduit ignores quotes: a text that `strtol` reads to its end is an int64, and a text that `strtod`
reads to its end is a float64 (conduit 0.9.2, conduit_generator.cpp: yaml_leaf_to_numeric_dtype).
"""

import math
import re
from typing import Final

from exset.grammars.lbann.schema import Value

INT64: Final = (-(2**63), 2**63 - 1)

_INTEGER = re.compile(r"[ \t\n\v\f\r]*([-+]?)([0-9]+)")
_REAL = re.compile(
    r"""[ \t\n\v\f\r]*(?P<sign>[-+]?)(?:
        (?P<decimal>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)
      | (?P<hex>0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?[0-9]+)?)
      | (?P<infinite>inf(?:inity)?)
      | (?P<nan>nan(?:\([0-9a-z_]*\))?)
    )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
SPECIAL_IN_YAML: Final = re.compile(
    r"~|null|true|false|yes|no|on|off|[-+]?0o[0-7]+|[-+]?[0-9][0-9_]*_[0-9_.e]*|\.inf|[-+]\.inf"
    r"|\.nan|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*",
    re.IGNORECASE | re.ASCII,
)
"""Plain scalars that are text in conduit, but not in other YAML readers."""
_OCTAL = re.compile(r"[-+]?0[0-9]+", re.ASCII)
_DIGITS = 4000  # Python refuses to convert more at once; an int64 has 19


def scalar(text: str) -> int | float | str | None:
    """Return the value of a scalar. Integers are clamped to int64; floats may be infinite."""
    if match := _INTEGER.fullmatch(text):
        digits = match[2].lstrip("0") or "0"
        number = int(digits) if len(digits) < _DIGITS else INT64[1] + 1
        low, high = INT64
        return max(low, min(high, -number if match[1] == "-" else number))
    if match := _REAL.fullmatch(text):
        return math.copysign(1, -1 if match["sign"] == "-" else 1) * _magnitude(match)
    return text or None


def surprise(text: str, plain: bool, value: Value) -> tuple[str, str] | None:
    """Return how conduit reads a scalar, and a hint, if the value may be unexpected.

    Return None otherwise. plain: True if the scalar has no quotes.
    """
    if isinstance(value, str):
        if plain and SPECIAL_IN_YAML.fullmatch(text):
            return "text", "other YAML readers differ: quote it if you mean text"
    elif isinstance(value, int | float):
        if not plain:
            return "a number, despite the quotes", "choose a text that does not look like a number"
        is_limit = isinstance(value, int) and value in INT64
        if is_limit and (len(text) >= _DIGITS or int(text) != value):
            return f"{value}, the limit of 64 bits", "write a smaller number"
        if _OCTAL.fullmatch(text):
            return f"the decimal number {value}", "remove the leading zeros"
        if not math.isfinite(value) or "x" in text.lower():
            return f"the number {value!r}", "write a decimal number"
    return None


def _magnitude(match: re.Match[str]) -> float:
    if match["nan"]:
        return math.nan
    if match["infinite"]:
        return math.inf
    if match["decimal"]:
        return float(match["decimal"])
    try:
        return float.fromhex(match["hex"])
    except OverflowError:
        return math.inf
