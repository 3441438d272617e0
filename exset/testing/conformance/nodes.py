"""Read the values in a JSON document that another program wrote. Messages have a value's path."""

import math
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, TypeAlias, cast

import numpy as np

from exset.parsers.engine.numbers import float32s

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value of JSON."""

Document: TypeAlias = dict[str, Json]
"""An object of JSON."""

_QUIET_NAN: Final = 0x7FC00000
_QUIET_DOUBLE: Final = 0x7FF8 << 48


class BadMeaning(ValueError):
    """A document is not a valid meaning. The message has the path of the wrong value."""


class Node:
    """A value in a document; its methods raise BadMeaning if the value has another type."""

    def __init__(self, value: object, path: str = "") -> None:
        self.value = value
        self.path = path

    def error(self, expected: str) -> BadMeaning:
        """Return an error with the path, the expected value, and the value of this node."""
        found = repr(self.value)
        found = found if len(found) <= 60 else f"{found[:57]}..."
        return BadMeaning(f"{self.path or 'the document'}: expected {expected}, not {found}")

    def get(self, name: str) -> "Node":
        """Return a member of this object as a node. If it is missing, the node's value is None."""
        if not isinstance(self.value, dict):
            raise self.error("an object")
        return Node(self.value.get(name), f"{self.path}.{name}" if self.path else name)

    def known(self, *names: str) -> "Node":
        """Return this object. Raise BadMeaning if it has a member that is not one of `names`."""
        if not isinstance(self.value, dict):
            raise self.error("an object")
        for name in self.value:
            if name not in names:
                raise BadMeaning(
                    f"{self.path or 'the document'}: unknown member {name!r}:"
                    f" choose one of {', '.join(names)}"
                )
        return self

    def items(self) -> "Iterator[Node]":
        """Yield the items of this array."""
        if not isinstance(self.value, list | tuple):
            raise self.error("an array")
        for i, item in enumerate(self.value):
            yield Node(item, f"{self.path}[{i}]")

    @property
    def missing(self) -> bool:
        """Whether the value is null or missing."""
        return self.value is None

    def members(self) -> "dict[str, Node]":
        """Return the members of this object. Return {} if the object is missing."""
        if self.missing:
            return {}
        if not isinstance(self.value, dict):
            raise self.error("an object")
        return {str(name): self.get(name) for name in self.value}

    def json(self) -> Json:
        """Return the value itself, as JSON."""
        return cast(Json, self.value)

    def boolean(self) -> bool:
        """Return the value, which must be true or false."""
        if not isinstance(self.value, bool):
            raise self.error("true or false")
        return self.value

    def integer(self) -> int:
        """Return the value, which must be an integer."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | np.integer):
            raise self.error("an integer")
        return int(self.value)

    def text(self) -> str:
        """Return the value, which must be a text."""
        if not isinstance(self.value, str):
            raise self.error("a text")
        return self.value

    def string(self) -> Json:
        """Return a byte string in canonical form (see `string`), or None."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, bytes):
            return string(value)
        if isinstance(value, str):
            try:  # lone surrogates are bytes that are not UTF-8, as in file names
                return string(value.encode("utf-8", "surrogateescape"))
            except UnicodeEncodeError:
                raise self.error("a text without lone surrogates") from None
        self.known("base64")
        try:
            return string(b64decode(self.get("base64").text(), validate=True))
        except Base64Error:
            raise self.error("base64") from None

    def real(self) -> Json:
        """Return a number of single precision in canonical form: see `real`."""
        if (bits := self._bits("eight")) is not None:
            try:
                return real(np.uint32(bits).view(np.float32))
            except OverflowError:
                raise self.error("eight hexadecimal digits as bits") from None
        if isinstance(self.value, dict):
            return self.get("decimal").real()
        if isinstance(self.value, str):
            try:
                return real(float32s([self.value.encode("ascii")])[0])
            except ValueError:
                raise self.error("a number") from None
        return real(self._number())

    def double(self) -> Json:
        """Return a number of double precision in canonical form: see `double`."""
        if (bits := self._bits("16")) is not None:
            try:
                return double(np.uint64(bits).view(np.float64))
            except OverflowError:
                raise self.error("16 hexadecimal digits as bits") from None
        if isinstance(self.value, dict):
            return self.get("decimal").double()
        if isinstance(self.value, str):
            try:
                return double(float(self.value))
            except ValueError:
                raise self.error("a number") from None
        return double(self._number())

    def _bits(self, digits: str) -> int | None:
        """Return the number in this object's member `bits`. Return None without this member.

        digits: how many hexadecimal digits the bits must have; the error says this number.
        """
        if not isinstance(self.value, dict):
            return None
        bits = self.known("decimal", "bits").get("bits")
        try:
            return None if bits.missing else int(bits.text(), 16)
        except ValueError:
            raise self.error(f"{digits} hexadecimal digits as bits") from None

    def _number(self) -> "int | float | np.floating | np.integer":
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
            raise self.error("a number")
        return value


def real(value: "int | float | np.floating | np.integer") -> Document:
    """Round a number to single precision; return its exact decimal and its bits.

    All NaNs give `{"decimal": "NaN", "bits": "7fc00000"}`.
    """
    with np.errstate(over="ignore"):
        try:
            single = np.float32(value)
        except OverflowError:  # a whole number that no float holds
            single = np.float32(math.copysign(math.inf, cast(int, value)))
    if np.isnan(single):
        return {"decimal": "NaN", "bits": f"{_QUIET_NAN:08x}"}
    return {"decimal": str(Decimal(float(single))), "bits": f"{int(single.view(np.uint32)):08x}"}


def double(value: "int | float | np.floating | np.integer") -> Document:
    """Return the exact decimal and the bits of a double-precision number; all NaNs are the same."""
    try:
        number = np.float64(value)
    except OverflowError:  # a whole number that no float holds
        number = np.float64(math.copysign(math.inf, cast(int, value)))
    if np.isnan(number):
        return {"decimal": "NaN", "bits": f"{_QUIET_DOUBLE:016x}"}
    return {"decimal": str(Decimal(float(number))), "bits": f"{int(number.view(np.uint64)):016x}"}


def string(value: bytes) -> Json:
    """Return a byte string as text if it is UTF-8, else as `{"base64": ...}`."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode("ascii")}


def shown(value: Json) -> str:
    """Return a value of a meaning as text, for messages."""
    if value is None:
        return "none"
    if isinstance(value, dict) and "bits" in value:
        decimal = str(value["decimal"])
        digits = 9 if len(str(value["bits"])) == 8 else 17
        return "NaN" if decimal == "NaN" else f"{float(decimal):.{digits}g}"
    if isinstance(value, dict) and "base64" in value:
        return repr(b64decode(str(value["base64"])))[1:]
    if isinstance(value, list):
        text = " ".join(map(shown, value))
        return f"[{text if len(text) <= 80 else text[:77] + '...'}]"
    return repr(value) if isinstance(value, str) else str(value)


def brief(value: Json) -> Json:
    """Return a meaning to show to people, with plain numbers and without missing members."""
    if isinstance(value, list):
        return [brief(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "bits" in value:
        number = float(shown(value))
        return number if math.isfinite(number) else str(value["decimal"])
    return {name: brief(each) for name, each in value.items() if each is not None}
