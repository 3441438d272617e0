"""Parse the notation of cache blocks in the tables of declared cases.

    { block = "header:2 'a' x:07000000 | 'b' x:08000000 trailer end" }

An element is written as its data: a text in quotes, `x:` with hexadecimal digits, or `times:3:00`,
which means three bytes of 0. `|` separates records. The words after `header:` change the first
entry; the words after `entry:` describe an entry of any kind. `patch = { 22 = "ffff" }` replaces
bytes of the block, and `cut = 40` drops all bytes from offset 40 on.
"""

import re
import struct
from collections.abc import Mapping
from typing import Final, cast

_TIME: Final = 1491868800
_ITEM: Final = re.compile(r"'[^']*'|\S+")
_REGULAR: Final = 0o100644


def block_of(declared: Mapping[str, object]) -> bytes:
    """Return the bytes of a block. Raises ValueError for an unknown item."""
    made = bytearray()
    record = element = 0
    for word in _ITEM.findall(str(declared["block"])):
        kind, _, rest = word.partition(":")
        if word == "|":
            record += 1
        elif word[0] == "'" or kind in ("x", "times"):
            made += entry(b"rec_%07d.%02d" % (record, element), _data(word))
            element += 1
        elif kind == "header":
            made += _header(rest)
        elif kind == "entry":
            made += _any_entry(rest)
        elif kind == "zeros":
            made += bytes(int(rest))
        elif word == "trailer":
            made += entry(b"cpiotlr", bytes(16))
        elif word == "end":
            made += entry(b"TRAILER!!!", b"")
        else:
            raise ValueError(f"unknown item {word!r} of a block")
    for at, digits in cast(Mapping[str, str], declared.get("patch", {})).items():
        new = bytes.fromhex(digits)
        made[int(at) : int(at) + len(new)] = new
    return bytes(made[: cast("int | None", declared.get("cut"))])


def entry(
    name: bytes,
    data: bytes,
    *,
    time: int = _TIME,
    mode: int = _REGULAR,
    nlink: int = 0,
    longest: int = 15,
) -> bytes:
    """Return an entry of a cpio file as aeon writes it.

    longest: keep at most so many bytes of the name.
    """
    name = name[:longest] + b"\0"
    words = (0o070707, 0, 0, mode, 0, 0, nlink, 0, time >> 16, time & 0xFFFF, len(name))
    head = struct.pack("<13H", *words, len(data) >> 16, len(data) & 0xFFFF)
    return head + name + bytes(len(name) % 2) + data + bytes(len(data) % 2)


def _any_entry(rest: str) -> bytes:
    """Return the entry that a text such as `name=a,data='b',mode=33188,time=0` describes."""
    words = _words(rest)
    name, data = words.pop("name", "a").encode(), _data(words.pop("data", "''"))
    return entry(name, data, longest=1 << 16, **{key: int(text) for key, text in words.items()})


def _header(rest: str) -> bytes:
    """Return the first entry of a block, which has the block's header.

    rest: what to change; `3,word=0,version=2` sets the number of records to 3, and changes two
    fields.
    """
    count, _, more = rest.partition(",")
    words = _words(more)
    data = words.get("magic", "MACR").encode()
    data += struct.pack("<II", int(words.get("version", "1")), int(words.get("writer", "1")))
    data += words.get("type", "").ljust(8).encode()
    data += struct.pack("<II", int(count), int(words.get("word", count)))
    data += bytes.fromhex(words.get("rest", "")).ljust(36, b"\0")
    data = data[: int(words.get("size", "64"))].ljust(int(words.get("size", "64")), b"\0")
    return entry(words.get("name", "cpiohdr").encode(), data, time=int(words.get("time", _TIME)))


def _words(text: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in text.split(",") if word)


def _data(word: str) -> bytes:
    if word.startswith("times:"):
        _, count, digits = word.split(":")
        return int(count) * bytes.fromhex(digits)
    return bytes.fromhex(word[2:]) if word.startswith("x:") else word[1:-1].encode("latin-1")
