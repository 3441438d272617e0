"""The etl type `audio`. It makes samples, or a picture of frequencies over time, from a WAVE sound.

Only aeon of April 2017 has this type. Source: etl_audio.cpp.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from exset.codecs.aeon import wave
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.grammars.aeon.config.numbers import spans_of
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.columns.arrays import Floats
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.noise import Parameters, load_clips, with_noise
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.spectrogram import (
    Samples,
    as_bytes,
    cepstra,
    filters_of,
    frames_of,
    log_filtered,
    spectrogram,
    window_of,
)


class Audio(Etl):
    """Sounds of one channel and 16 bits. As in aeon, their sample rate is not used.

    A spectrogram has the highest frequency first. Its lowest value becomes 0, its highest 255.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Make the decoder for the etl object `etl[number]`, and read the sounds that it adds as
        noise.

        settings: the members of the etl object. Raises the errors of `load_clips`, and FormatError
        for an output that aeon cannot make.
        """
        super().__init__(settings, number, context)
        self._feature = str(settings["feature_type"])
        self._spans = spans_of(settings)
        self._augmentation = context.augmentation("audio")
        self._clips = load_clips(settings, context)
        self._cepstra = settings.number("num_cepstra")
        self._steps = self.outputs[0].shape[2]
        filters, length = settings.number("num_filters"), self._spans.length
        if self._feature == "samples":
            return
        if self._feature == "mfcc" and self._cepstra > filters:
            message = f"etl[{number}].num_cepstra is {self._cepstra}, more than num_filters"
            raise FormatError(f"{message}, {filters}", code="aeon-later")
        if length > self._spans.duration:
            message = f"etl[{number}].frame_length is longer than max_duration"
            raise FormatError(message, code="aeon-later")
        self._window = window_of(str(settings["window_type"]), length)
        if self._feature != "specgram":
            self._filters = filters_of(filters, length, settings.number("sample_freq_hz"))

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the samples or the features of the sound in the file `element` into the first slot.
        If there is a second slot, write the number of samples or frames into it.

        Raises FormatError for a file that is not a sound of one channel and 16 bits, and for a
        sound that is too short.
        """
        sound = wave.decode(Source("sound", element), limits=self.context.limits)
        draws = record.draws(f"audio.{self.number}")
        drawn = Parameters.drawn(draws, self._augmentation)
        samples = with_noise(sound.samples, self._clips, drawn)
        found, count = slots[0], min(samples.size, slots[0].shape[2])
        if self._feature == "samples":
            found[0, 0, :count] = samples[:count]
        else:
            rows = as_bytes(_stretched(self._features(samples), drawn.stretch))
            rows = rows[: found.shape[2]]
            found[0, :, : len(rows)] = rows.T[::-1]
            count = len(rows)
        for length in slots[1:]:
            length[0] = count

    def _features(self, samples: Samples) -> Floats:
        """Return the features of each frame, the lowest first. Features are frequencies, filters or
        cepstra.
        """
        _, length, stride = self._spans
        frames = frames_of(samples, length, stride, self._steps)
        found = spectrogram(frames, self._window)
        if self._feature == "specgram":
            return found
        found = log_filtered(found, self._filters)
        return cepstra(found, self._cepstra) if self._feature == "mfcc" else found


def _stretched(rows: Floats, factor: np.float32) -> Floats:
    """Stretch a sound in time by a factor. rows: the sound, with a row for each frame.

    Raises FormatError if no rows are left.
    """
    if factor == 1:
        return rows
    if int(np.rint(np.float32(len(rows)) * factor)) < 1:
        raise FormatError(f"time_scale_fraction {factor} leaves nothing of the sound")
    cv2 = opencv()
    method = cv2.INTER_CUBIC if factor > 1 else cv2.INTER_AREA
    # With the number of rows in place of the factor, OpenCV would compute another factor.
    return cast(Floats, cv2.resize(rows, None, fx=1, fy=float(factor), interpolation=method))
