"""Read the WAVE files that aeon's audio type accepts: uncompressed, one channel, samples of 16
bits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.aeon.riff import Chunks, number_of, read_chunks
from exset.codecs.engine import Layout
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source

_FORMAT: Final = Layout("exset.codecs.aeon.riff_layout:WaveFormat")
_PCM, _EXTENSIBLE = 1, 0xFFFE
_BITS: Final = 16
_CODECS: Final[Mapping[int, str]] = {
    2: "Microsoft ADPCM",
    3: "IEEE float",
    6: "A-law",
    7: "mu-law",
    0x11: "IMA ADPCM",
    0x31: "GSM 6.10",
    0x50: "MPEG",
    0x55: "MP3",
    0xFF: "AAC",
}


@dataclass(frozen=True)
class Sound:
    """A sound of one channel.

    rate: the number of samples per second. samples: int16 [n], not copied.
    """

    rate: int
    samples: NDArray[np.int16]


def decode(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Sound:
    """Read a sound. `findings` collects properties of the file that other programs do not accept.

    Raises FormatError for a file that is damaged or is not a WAVE file. Also raises it for a
    compressed sound, for several channels, and for samples that do not have 16 bits. Source:
    etl_audio.cpp, which reads with libsox.
    """
    findings = Findings() if findings is None else findings
    chunks = read_chunks(source, b"WAVE", limits=limits, findings=findings, engine=engine)
    headers, data = chunks.named(b"fmt "), chunks.named(b"data")
    for name, found in (("'fmt '", headers), ("'data'", data)):
        if not found:
            raise _refused(chunks, None, f"the sound has no chunk {name}")
    fields = chunks.read(_FORMAT, headers[0])
    members = ("wFormatTag", "nChannels", "wBitsPerSample")
    tag, channels, bits = (number_of(fields, each) for each in members)
    if tag == _EXTENSIBLE:
        tag = number_of(fields, "extension.SubFormat")
    if tag != _PCM:
        codec = _CODECS.get(tag, f"codec {tag:#06x}")
        raise _refused(chunks, headers[0], f"the sound is {codec}: aeon needs PCM")
    if channels != 1:
        raise _refused(chunks, headers[0], f"the sound has {channels} channels: aeon needs one")
    if bits != _BITS:
        raise _refused(chunks, headers[0], f"the sound has {bits} bits a sample: aeon needs 16")
    count = int(chunks.ends[data[0]] - chunks.begins[data[0]]) // 2
    samples = np.frombuffer(chunks.data(data[0]), "<i2", count)
    return Sound(number_of(fields, "nSamplesPerSec"), samples.astype(np.int16, copy=False))


def _refused(chunks: Chunks, chunk: int | None, message: str) -> FormatError:
    """Return the error for a sound that aeon does not decode.

    chunk: the index of the chunk with the problem; None for the whole file.
    """
    place = chunks.whole if chunk is None else chunks.place(chunk)
    hint = "convert it, for example with sox IN.wav -c 1 -b 16 -e signed-integer OUT.wav"
    return FormatError(message, place=place, hint=hint, code="aeon-sound")
