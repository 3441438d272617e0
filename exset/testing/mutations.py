"""Damage good files for the fuzzer, and make a failing file small."""

import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, Literal

INTEGERS: Final = tuple(
    sorted(
        {0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31}
        | {2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**12, 10**19}
        | {-1, -2, -128, -32768, -(2**31), -(2**31) - 1, -(2**63)}
    )
)
"""Numbers that often break counts, spans and conversions."""

WORDS: Final = (
    *(b"{", b"}", b"[", b"]", b"(", b")", b'"', b"'", b"\\", b"\\\n", b";", b":", b",", b"#"),
    *(b"*", b"-", b"+", b".", b"...", b"\t", b" ", b"\n", b"\r", b"\r\n", b"\0", b"\x0b", b"\xff"),
    *(b"nan", b"inf", b"-inf", b"1e400", b"1e-400", b"-0", b"0x1p3", b"1_0", b"1.5.", b"e9"),
    *(b"\xef\xbb\xbf", b"\x1b[31m", b"\xe2\x80\xae", b"\xc2\x9b", b"\xe2\x80\xa8", b"\xed\xa0\x80"),
    *(b"<<: *a", b"&a ", b"*a", b"!!str ", b"---\n", b"...\n", b"? ", b"- ", b"| ", b"> "),
    *(b"null", b"true", b"NaN", b'"\\ud800"', b'"\\u0000"', b"[" * 40, b"{" * 40, b'{"a":' * 40),
    *(b"\x1f\x8b", b"../", b"|ls", b"~", b"/", b"@FILE", b"@", b"=", b"====", b"TRAILER!!!"),
)
"""Words that are common in texts and layouts, or that often break readers."""

_CHANGES: Final = (
    *("bits", "truncate", "delete", "repeat", "insert", "splice", "continue", "bytes", "number"),
    *("word", "word", "swap", "lines", "brackets"),
)
_TOKEN: Final = re.compile(rb"\w+|[^\S\n]+|\n|[^\w\s]", re.ASCII)
_NUMBER: Final = re.compile(rb"-?\d+")
_MOST: Final = 4096
_AROUND: Final = 100
"""How many bytes before and after a random place the tokens are sought that a change replaces."""
_NEAR: Final = 12
"""Up to this length, `minimised` tries to delete a span at every place, not only at multiples."""


class Mutator:
    """Makes nearly valid files from seeds, which it cuts, changes and joins.

    `most`: how many bytes of a seed are used at most. `words`: words to insert besides `WORDS`,
    such as the words of a grammar. `repaired`: a function that corrects checksums; it is used on
    most cases.
    """

    def __init__(
        self,
        seeds: Sequence[bytes],
        words: Sequence[bytes] = (),
        *,
        most: int = _MOST,
        repaired: Callable[[bytes], bytes] = bytes,
    ) -> None:
        self.seeds = [seed[:most] for seed in seeds] or [b""]
        self.words = (*WORDS, *words)
        self.most = most
        self._repaired = repaired

    def add(self, data: bytes) -> None:
        """Add a file to the seeds."""
        self.seeds.append(data[: self.most])

    def made(self, rng: random.Random) -> bytes:
        """Return a seed with up to five changes. Small seeds are taken more often."""
        data = min(rng.choices(self.seeds, k=rng.choice((1, 2, 3))), key=len)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
            data = self._changed(rng, data)
        data = data[: 2 * self.most]
        return self._repaired(data) if rng.random() < 0.8 else data

    def _changed(self, rng: random.Random, data: bytes) -> bytes:
        begin, end = _span(rng, data)
        before, span, after = data[:begin], data[begin:end], data[end:]
        match rng.choice(_CHANGES):
            case "bits":
                return _with_changed_bits(rng, data)
            case "truncate":
                return before
            case "delete":
                return before + after
            case "repeat":
                return before + span * rng.choice((2, 2, 3, 9)) + after
            case "insert":
                return before + rng.randbytes(rng.choice((1, 2, 4, 16))) + data[begin:]
            case "splice":
                other = rng.choice(self.seeds)
                return before + other[slice(*_span(rng, other))] + data[begin:]
            case "continue":
                other = rng.choice(self.seeds)
                return before + other[rng.randint(0, len(other)) :]
            case "bytes":
                return _with_changed_bytes(rng, data)
            case "number":
                begin, end = rng.choice(_near(_NUMBER, data, begin) or [(begin, end)])
                return data[:begin] + b"%d" % rng.choice(INTEGERS) + data[end:]
            case "word":
                begin, end = rng.choice(_near(_TOKEN, data, begin) or [(begin, end)])
                return data[:begin] + rng.choice(self.words) + data[rng.choice((begin, end)) :]
            case "swap":
                pairs = [*pairwise(_near(_TOKEN, data, begin))]
                (begin, middle), (_, end) = rng.choice(pairs or [((begin, begin), (begin, begin))])
                return data[:begin] + data[middle:end] + data[begin:middle] + data[end:]
            case "lines":
                return _with_changed_lines(rng, data)
            case _:
                opener, closer = map(str.encode, rng.choice(("{}", "[]", "()", '""')))
                depth = rng.choice((1, 1, 2, 31, 32, 33, 200))
                closing = closer * rng.choice((depth, depth, depth - 1, 0))
                return before + opener * depth + span + closing + after


def _near(pattern: re.Pattern[bytes], data: bytes, place: int) -> list[tuple[int, int]]:
    """Return the spans of the matches near a place. The first and the last one may be cut."""
    found = pattern.finditer(data, max(place - _AROUND, 0), place + _AROUND)
    return [match.span() for match in found]


def _with_changed_bits(rng: random.Random, data: bytes) -> bytes:
    """Return the data with some bits flipped, or with some bits set to 1."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4)) if data else 0):
        at = rng.randrange(len(changed))
        changed[at] = rng.choice((changed[at] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    return bytes(changed)


def _with_changed_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return the data in which a number of `INTEGERS` replaces two, four or eight bytes."""
    size = rng.choice((2, 4, 4, 8))
    number = rng.choice(INTEGERS) % (1 << 8 * size)
    orders: tuple[Literal["little", "big"], ...] = ("little", "big")
    at = rng.randint(0, len(data))
    if rng.random() < 0.5:
        at -= at % 2
    return data[:at] + number.to_bytes(size, rng.choice(orders)) + data[at + size :]


def _with_changed_lines(rng: random.Random, data: bytes) -> bytes:
    """Return the data with a line deleted, repeated or moved, or with all line ends changed."""
    lines = data.splitlines(keepends=True) or [b""]
    at = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines[at:at] = [lines[at]] * rng.choice((1, 2, 5))
        case 2:
            lines.insert(rng.randrange(len(lines)), lines.pop(at))
        case _:
            return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"")))
    return b"".join(lines)


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    """Return the start and end of a random span of the data. The span is often short."""
    begin = rng.randint(0, len(data))
    length = rng.choice((1, 2, 4, 8, 26, 100, len(data)))
    return begin, min(begin + rng.randint(0, length), len(data))


def minimised(data: bytes, fails: Callable[[bytes], bool], tries: int = 3000) -> bytes:
    """Return a small version of `data` that still fails.

    First, delete smaller and smaller spans while the rest still fails. Then, replace each remaining
    byte by `0` if the result still fails. `fails` is called at most `tries` times.
    """
    left = tries
    size = max(len(data) // 2, 1)
    while size and left > 0:
        at, shorter = 0, False
        while at < len(data) and left > 0:
            left -= 1
            if fails(smaller := data[:at] + data[at + size :]):
                data, shorter = smaller, True
            else:
                at += size if size > _NEAR else 1
        if not shorter or size > _NEAR:
            size = size // 2 if size > _NEAR else size - 1
    for at in range(len(data)):
        if left <= 0:
            break
        if data[at : at + 1] != b"0":
            left -= 1
            plainer = data[:at] + b"0" + data[at + 1 :]
            data = plainer if fails(plainer) else data
    return data
