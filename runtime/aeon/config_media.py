"""Check the sounds and videos of a column: the headers and the structure of their files."""

from collections.abc import Iterator
from typing import Protocol, TypeVar

from exset.codecs.aeon import avi, wave
from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.aeon.config.numbers import spans_of
from exset.grammars.aeon.manifest_types import ElementType
from exset.runtime.aeon.config_column import Column
from exset.runtime.aeon.provision.spectrogram import frames_of

T_co = TypeVar("T_co", covariant=True)


class _Decoder(Protocol[T_co]):
    def __call__(self, source: Source, *, limits: Limits, findings: Findings) -> T_co: ...


def check_videos(column: Column) -> None:
    """Add a finding for each video that aeon does not read. The pictures are not decoded."""
    for _ in _decoded(column, avi.decode):
        pass


def check_sounds(column: Column) -> None:
    """Add a finding for each sound that aeon does not read, or reads with another sample rate."""
    rate, (_, length, stride) = column.etl.number("sample_freq_hz"), spans_of(column.etl)
    for record, sound in _decoded(column, wave.decode):
        if sound.rate != rate:
            words = {"rate": f"{sound.rate:,}", "assumed": f"{rate:,}"}
            column.report("aeon-sound-rate", record, **words)
        try:
            frames_of(sound.samples, length, stride, 1)
        except FormatError as error:
            column.report("aeon-element", record, why=error.message)


def _decoded(column: Column, decode: _Decoder[T_co]) -> Iterator[tuple[int, T_co]]:
    """Yield (record, value) for each record; the value is what `decode` returns for the element.

    If `decode` raises an error, add a finding instead.
    """
    for record, name, data in column.contents("max_batch"):
        if not data:
            continue
        found = Findings()
        try:
            yield record, decode(Source(name, data), limits=column.options.limits, findings=found)
        except FormatError as error:
            column.report("aeon-element", record, why=error.message)
        if column.kind is ElementType.FILE:
            column.findings.add_all(found)
