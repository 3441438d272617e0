"""Parse the notation of bytes of binary files in the tables of declared cases."""

import re
import struct
from typing import Final

_ITEM: Final = re.compile(
    r"(?P<string>\"[^\"]*\")|x:(?P<hex>[0-9a-fA-F]+)|b:(?P<byte>\d+)"
    r"|(?P<name>\$\w+)|(?P<real>-?\d+\.\d*(?:e-?\d+)?|-?inf|nan)|(?P<int>-?\d+)"
)


def bytes_of(text: str, names: dict[str, str]) -> bytes:
    r"""Return the big-endian bytes that a text describes.

    Blanks separate the items of the text:

    - `3` is an int of 4 bytes.
    - `0.5`, `inf` or `nan` is a float of 4 bytes.
    - `"a"` is a string with a NUL at its end.
    - `b:1` is a byte.
    - `x:00ff` is bytes in hexadecimal.
    - `$head` is the items of the text that `names` has for `head`.

    Raises ValueError for any other item.
    """
    made = bytearray()
    for word in re.findall(r'"[^"]*"|\S+', text):
        found = _ITEM.fullmatch(word)
        if found is None:
            raise ValueError(
                f"unknown item {word!r}: expected an int, a single, a string, b: or x:"
            )
        value = found[0]
        match found.lastgroup:
            case "string":
                made += value[1:-1].encode("latin-1") + b"\0"
            case "hex":
                made += bytes.fromhex(found["hex"])
            case "byte":
                made.append(int(found["byte"]))
            case "real":
                made += struct.pack(">f", float(value))
            case "int":
                made += struct.pack(">i", int(value))
            case _:
                made += bytes_of(names[value[1:]], names)
    return bytes(made)
