"""Add noise to sounds as aeon does: read the clips that an index file names, and mix them in.

Source: noise_clips.cpp of aeon.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exset.codecs.aeon import wave
from exset.core.errors import FormatError, Place
from exset.core.source import Source
from exset.grammars.aeon.config.settings import Settings
from exset.io import files
from exset.io.beneath import OutsideError
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.etl import Context
from exset.runtime.aeon.provision.spectrogram import Samples

_HIGHEST = 2**32 - 1


@dataclass(frozen=True)
class Parameters:
    """The random parameters of the noise for a sound.

    add: whether to add noise. clip: a number of 32 bits, which chooses the clip. level: the factor
    for the noise. offset: where in the clip the noise begins, from 0 to 1. stretch: the factor by
    which the sound becomes longer.
    """

    add: bool
    clip: int
    level: np.float32
    offset: np.float32
    stretch: np.float32

    @classmethod
    def drawn(cls, draws: Draws, augmentation: Settings) -> "Parameters":
        """Draw the parameters of a sound. The number of draws is the same for each sound."""
        return cls(
            draws.coin(augmentation.real("add_noise_probability")),
            draws.integer(0, _HIGHEST),
            draws.real(*augmentation.pair("noise_level")),
            draws.real(0, 1),
            draws.real(*augmentation.pair("time_scale_fraction")),
        )


def load_clips(settings: Settings, context: Context) -> tuple[Samples, ...]:
    """Read the clips that the index file of an etl object names. White space separates the names.

    Raises FormatError for an index without names, a file outside the roots, and a clip that is not
    a sound. Raises OSError for a file that cannot be read.
    """
    index, root = str(settings["noise_index_file"]), str(settings["noise_root"])
    if not index:
        return ()
    names = _read(os.path.join(context.base, index), context).data.split()
    paths = [os.path.join(context.base, root, os.fsdecode(name)) for name in names]
    if not paths:
        message = "the noise_index_file names no files"
        raise FormatError(message, place=Place(index), code="aeon-sound")
    sources = (_read(path, context) for path in paths)
    return tuple(wave.decode(source, limits=context.limits).samples for source in sources)


def with_noise(samples: Samples, clips: Sequence[Samples], drawn: Parameters) -> Samples:
    """Return a sound with noise added. The noise is a part of a clip; a short clip is repeated.

    drawn: the random parameters of the noise.
    """
    if not (drawn.add and clips):
        return samples
    clip = clips[drawn.clip % len(clips)]
    if not clip.size:
        return samples
    begin = int(np.float32(clip.size) * drawn.offset)
    noise = clip[(begin + np.arange(samples.size)) % clip.size]
    mixed = np.rint(samples + drawn.level * noise.astype(np.float32))
    limits = np.iinfo(np.int16)
    return mixed.clip(limits.min, limits.max).astype(np.int16)


def _read(path: str, context: Context) -> Source:
    try:
        return files.read(path, limits=context.limits, roots=context.access.roots)
    except OutsideError:
        message = "the file is outside the allowed folders (roots)"
        raise FormatError(message, place=Place(path), code="aeon-file-outside") from None
