"""The etl type `video`: the frames of an AVI file of Motion JPEG. All frames are augmented in the
same way.

Source: etl_video.cpp of aeon.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from exset.codecs.aeon import avi
from exset.core.errors import Findings, FormatError, LimitError
from exset.core.source import Source
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.layout import DTYPES, Layout, standardized
from exset.runtime.aeon.provision.photometry import recoloured
from exset.runtime.aeon.provision.pixels import transformed
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.scaling import decoded


class Video(Etl):
    """Provides the first `max_frame_count` frames of a video. After a shorter video, zeros follow.

    An empty frame repeats the frame before it. The augmentation is the member `frame` of the
    augmentation `image`. With `compat`, aeon's limits apply: only three channels, bytes for every
    output type, no `bgr_to_rgb`, and only files that aeon reads.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Make the decoder for the etl object `etl[number]`, whose members are `settings`.

        Raises FormatError for one channel with `compat`, because aeon needs three.
        """
        super().__init__(settings, number, context)
        [frame] = settings.objects("frame")
        augmentation = Settings("augmentation image", settings.dialect, {})
        for inner in context.augmentation("image").objects("frame"):
            augmentation = inner if inner.type == "image" else augmentation
        compat = context.compat
        self._augmentation = Augmentation.of(augmentation, compat)
        layout = Layout.of(frame, self._augmentation.fixed_aspect_ratio, compat=False)
        if compat and layout.channels != 3:
            message = f"etl[{number}].frame.channels is 1, but aeon decodes three, and crashes"
            raise FormatError(message, code="aeon-later")
        rgb = layout.rgb and not compat
        self._layout = replace(layout, channel_major=True, rgb=rgb)
        mean, stddev = self._augmentation.mean, self._augmentation.stddev
        is_standardized = mean and stddev and not compat
        dtype = DTYPES[str(frame["output_type"])]
        self._table = standardized(mean, stddev, dtype) if is_standardized else None
        self._most = settings.number("max_frame_count")

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Decode the frames of the video in the file `element`, augment them all in the same way,
        and write them into the first slot.

        Raises FormatError for a file that is not an AVI file of Motion JPEG, and for a frame that
        cannot be decoded.
        """
        findings = Findings()
        source = Source("video", element)
        video = avi.decode(source, limits=self.context.limits, findings=findings)
        if self.context.compat:
            for finding in findings:
                raise FormatError.of(finding)
        found = slots[0]
        if self.context.compat and found.dtype.itemsize > 1:  # bytes, at the start of the slot
            found = found.reshape(-1).view(np.uint8)[: found.size].reshape(found.shape)
        last: tuple[Pixels, Parameters] | None = None
        for number in range(min(self._most, len(video.frames))):
            frame = bytes(video.frames[number])
            if frame or last is None:  # an empty frame is the frame before it
                last = self._decoded(frame, number, record)
            pixels, drawn = last
            changed = transformed(pixels, drawn, self._augmentation.interpolation_method)
            changed = recoloured(changed, drawn, self._augmentation)
            self._layout.write(changed, found[:, number], self._table)

    def _decoded(self, frame: bytes, number: int, record: Record) -> tuple[Pixels, Parameters]:
        """Return the decoded frame with this number, and the parameters of its changes."""
        try:
            return decoded(frame, self._layout, self._augmentation, record, self.context)
        except LimitError:
            raise
        except FormatError as error:
            raise FormatError(f"frame {number}: {error.message}", hint=error.finding.hint) from None
