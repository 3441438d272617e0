"""How the fuzzer damages good files, and makes a failing file small."""

import random
import re
import struct
from collections.abc import Callable, Sequence
from typing import Final

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

_PIECE: Final = re.compile(rb"\w+|[^\S\n]+|\n|[^\w\s]", re.ASCII)
_MOST: Final = 4096
_NEAR: Final = 12  # up to so many bytes are left out anywhere, more only at multiples


class Mutator:
    """Makes files that are nearly good: seeds that are cut, changed and joined.

    words: inserted besides `WORDS`, such as the words of a grammar. repaired: a function that
    corrects checksums; most cases get correct ones.
    """

    def __init__(
        self,
        seeds: Sequence[bytes],
        words: Sequence[bytes] = (),
        *,
        most: int = _MOST,
        repaired: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """Take seeds; cut each to `most` bytes."""
        self.seeds = [seed[:most] for seed in seeds] or [b""]
        self.words = (*WORDS, *words)
        self.most = most
        self._repaired = repaired

    def made(self, rng: random.Random) -> bytes:
        """Return a seed with up to five changes."""
        data = rng.choice(self.seeds)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
            data = rng.choice(_WAYS)(self, rng, data)
        data = data[: 2 * self.most]
        return self._repaired(data) if rng.random() < 0.8 else data

    def _bits(self, rng: random.Random, data: bytes) -> bytes:
        """Flip a bit or set a byte, here and there."""
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 4)) if data else 0):
            at = rng.randrange(len(changed))
            changed[at] = rng.choice((changed[at] ^ (1 << rng.randrange(8)), rng.randrange(256)))
        return bytes(changed)

    def _cut(self, rng: random.Random, data: bytes) -> bytes:
        """Keep the beginning."""
        return data[: rng.randint(0, len(data))]

    def _without(self, rng: random.Random, data: bytes) -> bytes:
        begin, end = self._span(rng, data)
        return data[:begin] + data[end:]

    def _again(self, rng: random.Random, data: bytes) -> bytes:
        """Repeat a span."""
        begin, end = self._span(rng, data)
        return data[:begin] + data[begin:end] * rng.choice((2, 2, 3, 9)) + data[end:]

    def _spliced(self, rng: random.Random, data: bytes) -> bytes:
        """Insert a span of another seed, or continue with its end."""
        other = rng.choice(self.seeds)
        begin, end = self._span(rng, other)
        at = rng.randint(0, len(data))
        if rng.random() < 0.5:
            return data[:at] + other[begin:]
        return data[:at] + other[begin:end] + data[at:]

    def _number(self, rng: random.Random, data: bytes) -> bytes:
        """Replace digits, or two, four or eight bytes, by a number of `INTEGERS`."""
        value = rng.choice(INTEGERS)
        if rng.random() < 0.5:
            found = list(re.finditer(rb"-?\d+", data))
            if found:
                match = rng.choice(found)
                return data[: match.start()] + b"%d" % value + data[match.end() :]
        size, mark = rng.choice(((2, "H"), (4, "I"), (4, "I"), (8, "Q")))
        packed = struct.pack(rng.choice("<>") + mark, value % 256**size)
        at = rng.randint(0, len(data))
        if rng.random() < 0.5:
            at -= at % 2
        return data[:at] + packed + data[at + size :]

    def _word(self, rng: random.Random, data: bytes) -> bytes:
        """Insert a word, or replace one."""
        pieces = list(_PIECE.finditer(data))
        word = rng.choice(self.words)
        if not pieces or rng.random() < 0.3:
            at = rng.randint(0, len(data))
            return data[:at] + word + data[at:]
        match = rng.choice(pieces)
        begin = match.start()
        return data[:begin] + word + data[match.end() if rng.random() < 0.5 else begin :]

    def _swapped(self, rng: random.Random, data: bytes) -> bytes:
        """Swap two neighbouring words."""
        pieces = _PIECE.findall(data)
        if len(pieces) < 2:
            return data
        at = rng.randrange(len(pieces) - 1)
        pieces[at], pieces[at + 1] = pieces[at + 1], pieces[at]
        return b"".join(pieces)

    def _lines(self, rng: random.Random, data: bytes) -> bytes:
        """Delete, repeat or move a line, or change all line ends."""
        lines = data.splitlines(keepends=True)
        if not lines:
            return data
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

    def _nested(self, rng: random.Random, data: bytes) -> bytes:
        """Put a few or very many brackets around a span."""
        begin, end = self._span(rng, data)
        opener, closer = rng.choice(((b"{", b"}"), (b"[", b"]"), (b"(", b")"), (b'"', b'"')))
        depth = rng.choice((1, 1, 2, 31, 32, 33, 200))
        closing = closer * rng.choice((depth, depth, depth - 1, 0))
        return data[:begin] + opener * depth + data[begin:end] + closing + data[end:]

    def _random(self, rng: random.Random, data: bytes) -> bytes:
        at = rng.randint(0, len(data))
        return data[:at] + rng.randbytes(rng.choice((1, 2, 4, 16))) + data[at:]

    def _span(self, rng: random.Random, data: bytes) -> tuple[int, int]:
        """Return the start and end of a span of any length, often short."""
        begin = rng.randint(0, len(data))
        length = rng.choice((1, 2, 4, 8, 26, 100, len(data)))
        return begin, min(begin + rng.randint(0, length), len(data))


_WAYS: Final[tuple[Callable[[Mutator, random.Random, bytes], bytes], ...]] = (
    Mutator._bits,
    Mutator._cut,
    Mutator._without,
    Mutator._again,
    Mutator._spliced,
    Mutator._number,
    Mutator._number,
    Mutator._word,
    Mutator._word,
    Mutator._swapped,
    Mutator._lines,
    Mutator._nested,
    Mutator._random,
)


def minimised(data: bytes, fails: Callable[[bytes], bool], tries: int = 3000) -> bytes:
    """Return a small part of some bytes that still fails, by deleting ever smaller spans.

    What is left is made plain: each byte `0` where that fails as well. `fails` is asked `tries`
    times at most.
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
