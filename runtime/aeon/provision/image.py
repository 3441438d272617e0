"""The etl type `image`: decode a picture, augment it, write it into its slot. Rules I1 to I8."""

from collections.abc import Sequence

from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision import decode
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.layout import DTYPES, Layout, standardized
from exset.runtime.aeon.provision.photometry import recoloured
from exset.runtime.aeon.provision.pixels import size_of, transformed
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.scaling import factor_of, reduced


class Image(Etl):
    """Pictures, augmented."""

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        super().__init__(settings, number, context)
        augmentation = Augmentation.of(context.augmentation("image"), context.compat)
        self._augmentation = augmentation
        self._layout = Layout.of(settings, augmentation.fixed_aspect_ratio, context.compat)
        dtype = "uint8" if self._layout.writes_bytes else DTYPES[str(settings["output_type"])]
        mean, stddev = augmentation.mean, augmentation.stddev
        self._table = standardized(mean, stddev, dtype) if mean and stddev else None

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write a picture."""
        layout = self._layout
        pixels, drawn = self._decoded(element, record)
        pixels = transformed(pixels, drawn, self._augmentation.interpolation_method)
        layout.write(recoloured(pixels, drawn, self._augmentation), slots[0], self._table)

    def _decoded(self, element: bytes, record: Record) -> tuple[Pixels, Parameters]:
        """Return a picture, which may be decoded in a smaller size, and its changes."""
        channels, wanted, limits = self._layout.channels, self._layout.size, self.context.limits
        size = decode.jpeg_size(element) if self.context.scaled_decoding else None
        if size is None:
            pixels = decode.picture(element, channels, limits)
            return pixels, record.parameters(self._augmentation, size_of(pixels), wanted)
        drawn = record.parameters(self._augmentation, size, wanted)
        pixels = decode.picture(element, channels, limits, factor_of(self._augmentation, drawn))
        return pixels, reduced(self._augmentation, drawn, size_of(pixels))
