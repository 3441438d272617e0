"""What a stream of examples gives, and what the whole file does: they must be the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from exset.core.errors import Finding, Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet
from exset.io.blocks import Blocks


class Streamer(Protocol):
    def __call__(
        self, blocks: Blocks, *, limits: Limits, findings: Findings, engine: Engine
    ) -> Iterator[ExampleSet]: ...


class Reader(Protocol):
    def __call__(
        self, source: Source, *, limits: Limits, findings: Findings, engine: Engine
    ) -> ExampleSet: ...


@dataclass
class Told:
    """The result of a reading: all examples, or those before the error, and the findings."""

    examples: ExampleSet | None
    error: Finding | None
    findings: list[Finding]
    counts: dict[str, int]


def whole(
    read: Reader,
    data: bytes,
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    strict: bool = False,
) -> Told:
    findings = Findings(strict=strict)
    examples = error = None
    try:
        examples = read(Source("x", data), limits=limits, findings=findings, engine=engine)
    except FormatError as found:
        error = found.finding
    return told(examples, error, findings)


def streamed(
    stream: Streamer,
    data: bytes,
    cuts: Callable[[bytes], Iterator[bytes]],
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    strict: bool = False,
) -> Told:
    findings = Findings(strict=strict)
    parts: list[ExampleSet] = []
    error = None
    blocks = Blocks("x", cuts(data), None, is_pipe=True)
    try:
        parts.extend(stream(blocks, limits=limits, findings=findings, engine=engine))
    except FormatError as found:
        error = found.finding
    return told(parts[0].concat(*parts[1:]) if parts else None, error, findings)


def told(examples: ExampleSet | None, error: Finding | None, findings: Findings) -> Told:
    kept = list(findings)
    return Told(examples, error, kept, {each.code: findings.count(each.code) for each in kept})


def pieces(size: int) -> Callable[[bytes], Iterator[bytes]]:
    """Cuts bytes into pieces of a size."""
    return lambda data: (data[at : at + size] for at in range(0, len(data), size))
