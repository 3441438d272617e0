"""Parse a large text in several threads, each from a place where a record probably begins.

The place is only probable, because the mark that ends a record may also be in a string or a
comment. Every part of the text except the first is parsed as if a record began at its start. The
result of a part counts only if the part before it ended in the assumed state: with the same next
token, and with the same stack of parser states. Otherwise, the driver of the part before continues
and parses the bytes again. So the streams are the same as with one thread.
"""

import contextlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Generic, NamedTuple, TypeVar

from exset.core import progress, threads
from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.parsers.engine.driver import Driver, Token
from exset.parsers.engine.recovery import Records
from exset.parsers.engine.stream import ParseStream, Rejection

R = TypeVar("R")

MakeDriver = Callable[[int, tuple[int, ...]], Driver]
"""Makes a driver that begins at a byte, with a stack of parser states; empty: the first."""

_LEAST: Final = 1 << 21  # bytes of a text from which it is divided
_SMALLEST: Final = 1 << 18  # bytes of a part
LARGEST: Final = 1 << 21
"""The most bytes of a part, unless a reader asks for smaller ones."""
_PARTS: Final = 2  # of each thread, as some parts take longer than others
_FIRST: Final = 1 << 16  # bytes
_FOLLOWING: Final = 1 << 12


@dataclass(frozen=True)
class Sizes:
    """How to divide a text among threads; all sizes are in bytes.

    threads: the number of threads. first: the size of the first part. part: the size of every other
    part. following: the number of bytes after a part within which the next token should end.
    """

    threads: int
    first: int = _FIRST
    part: int = LARGEST
    following: int = _FOLLOWING


def sizes_of(text: Source, largest: int = LARGEST) -> Sizes | None:
    """Return how to divide a text into parts of at most `largest` bytes, or None if one thread
    should parse it.
    """
    size = len(text.content)
    count = threads.count() if size >= _LEAST and not text.start else 1
    if count == 1:
        return None
    return Sizes(count, part=min(max(size // (count * _PARTS), _SMALLEST), largest))


def read_divided(text: Source, findings: Findings, read: Callable[[Findings, bool], R]) -> R:
    """Call `read` and return its result; `read` may use several threads for a large text.

    read: a function with two arguments: a collection for its findings, and whether it may use
    several threads. If the text has an error, or many findings, this function calls `read` again
    with one thread, because the findings that are kept depend on how the text is divided.
    """
    if sizes_of(text) and not findings.strict:
        found = Findings(keep=findings.keep)
        with contextlib.suppress(FormatError):
            result = read(found, True)
            kept = Counter(each.code for each in found)
            if max(kept.values(), default=0) < found.keep:
                findings.add_all(found)
                return result
    return read(findings, False)


class Marks(NamedTuple):
    """Patterns that find places where a record probably begins: at the end of a match.

    near: the pattern to search for first, within the size of a part. far: the pattern to search for
    if `near` has no such match, up to the end of the text. depth: the number of symbols that the
    parser has on its stack after a match; None if this number is not known.
    """

    near: re.Pattern[bytes]
    far: re.Pattern[bytes]
    depth: int | None = None

    @classmethod
    def of(cls, records: Records) -> "Marks":
        """Return the marks for a language whose records are known."""
        if records.begin:
            pattern = re.compile(b"(?=%b)" % re.escape(records.begin))
            return cls(pattern, pattern)
        end = re.escape(records.end)
        return cls(re.compile(rb"%b(?=[ \t]*+\r?\n)" % end), re.compile(end))


class Division(Generic[R]):
    """A text that several threads parse.

    driver: a function that makes a driver from the offset of a part and the initial parser states.
    work: a function of a parse stream that ends with a record. Each thread calls `work` for the
    first stream of its part. If `work` raises FormatError, the stream has no result.
    """

    def __init__(
        self,
        source: Source,
        marks: Marks,
        sizes: Sizes,
        driver: MakeDriver,
        work: Callable[[ParseStream], R | None],
    ) -> None:
        self.source = source
        self.sizes = sizes
        self.driver = driver
        self.work = work
        self.marks = marks

    def results(self, begin: int) -> Iterator[tuple[ParseStream, R | None]]:
        """Yield the parse streams of the text from byte `begin` on, each with the result of `work`.

        The result is None for a stream for which `work` was not called or failed. If the grammar
        rejects the text, raises `Rejection` after the streams before the error.
        """
        with progress.task("parsing", self.source.name, len(self.source.content) - begin):
            for part in self.parts(begin):
                yield from part.results()
                progress.advance(part.end - part.begin)

    def parts(self, begin: int) -> Iterator["_Part[R]"]:
        """Yield the parts of the text, from the offset `begin` on, in order.

        Each part is parsed from the state in which the previous part ended.
        """
        part = _Part[R](self.driver(begin, ()), self.source)
        size, end = self.sizes.first, len(self.source.content)
        while True:  # at least once, as an empty text may be an error
            part.parse(self.cut(part.end + size), self.sizes.following)
            size *= 2
            yield part
            if part.end >= end or self.begins(part.driver):
                break
        stack = part.driver.before_next

        free = deque[Driver]()

        def parsed(bounds: tuple[int, int]) -> _Part[R]:
            try:
                driver = free.popleft()
                driver.restart(bounds[0])
            except IndexError:
                driver = self.driver(bounds[0], stack)
            part = _Part[R](driver, self.source)
            part.parse(bounds[1], self.sizes.following)
            part.run(self.work)
            return part

        bounds = pairwise(self.cuts(part.end))
        with contextlib.closing(threads.ordered(parsed, bounds, self.sizes.threads)) as parts:
            for following in parts:
                if part.meets(following):
                    if part.driver.stack:
                        free.append(part.driver)
                    part = following
                else:
                    part.parse(following.end, self.sizes.following)
                yield part

    def begins(self, driver: Driver) -> bool:
        """Return whether a record begins directly after the part that `driver` has parsed."""
        depth = self.marks.depth
        return driver.next is not None and depth in (None, len(driver.before_next) - 1)

    def cuts(self, cut: int) -> Iterator[int]:
        """Yield the offsets at which parts end: `cut`, then the later ones, up to the end of the
        text.
        """
        yield cut
        while cut < len(self.source.content):
            cut = self.cut(cut + self.sizes.part)
            yield cut

    def cut(self, at: int) -> int:
        """Return the first offset, not before `at`, at which a record probably begins.

        Return the end of the text if there is no such offset.
        """
        data, end = self.source.content, len(self.source.content)
        for pattern, reach in ((self.marks.near, at + self.sizes.part), (self.marks.far, end)):
            if found := pattern.search(data, at, reach):
                return found.end()
        return end


class _Part(Generic[R]):
    """A part of a text, which one driver parses."""

    def __init__(self, driver: Driver, source: Source) -> None:
        self.driver = driver
        self.source = source
        self.begin = self.end = driver.begin
        self.first: Token | None = None
        self.stream: ParseStream | None = None
        self.result: R | None = None
        self.rejection: Rejection | None = None
        self._streams: Iterator[ParseStream] = iter(())

    def parse(self, end: int, following: int) -> None:
        """Parse the bytes after those of the last call, up to `end`. Stop when the first stream is
        complete.

        following: the number of bytes after `end` within which the next token should end.
        """
        self.begin, self.end = self.end, end
        self.result = self.rejection = None
        self._streams = self._parsed(end, following)
        try:
            self.stream = next(self._streams, None)
        except Rejection as rejection:
            self.stream, self.rejection = None, rejection
        self.first = self.driver.first

    def _parsed(self, end: int, following: int) -> Iterator[ParseStream]:
        data, at = self.source.view, self.driver.end
        if end == len(data):
            return self.driver.rest(data[at:])
        after = max(at, end)  # the driver may have bytes after the end already
        return self.driver.part(data[at:end], data[after : end + following])

    def run(self, work: Callable[[ParseStream], R | None]) -> None:
        """Call `work` for the first stream, and keep the result.

        An error is ignored here, because the calling thread raises it later.
        """
        if self.stream is not None:
            with contextlib.suppress(FormatError):
                self.result = work(self.stream)

    def results(self) -> Iterator[tuple[ParseStream, R | None]]:
        """Yield the streams of the part: the first with the result of `work`, the others with None.

        If the grammar rejects the part, raises `Rejection` after these streams.
        """
        if self.rejection is not None:
            raise self.rejection
        if self.stream is not None:
            yield self.stream, self.result
        yield from ((stream, None) for stream in self._streams)

    def meets(self, following: "_Part[R]") -> bool:
        """Return whether this part ends in the parser's state from which `following` was parsed."""
        driver = self.driver
        return (
            driver.next is not None
            and driver.next == following.first
            and driver.before_next == following.driver.stack
        )
