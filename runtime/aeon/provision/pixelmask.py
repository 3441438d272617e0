"""The etl type `pixelmask`: a class for each pixel of a picture."""

from collections.abc import Sequence

from exset.core.errors import FormatError
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision import decode
from exset.runtime.aeon.provision.augment import Augmentation
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.layout import Layout
from exset.runtime.aeon.provision.pixels import NEAREST, size_of, transformed
from exset.runtime.aeon.provision.record import Record


class PixelMask(Etl):
    """Provides masks. A mask changes in the same way as the picture of the same record."""

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        super().__init__(settings, number, context)
        if settings.number("channels") != 1:
            message = f"etl[{number}]: a pixelmask has one channel, and the default is 3"
            raise FormatError(message, hint='set "channels": 1', code="aeon-loader")
        self._augmentation = Augmentation.of(context.augmentation("image"), context.compat)
        keeps_aspect = self._augmentation.fixed_aspect_ratio
        self._layout = Layout.of(settings, keeps_aspect, context.compat)

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Decode the mask in the file `element`, change it as the record's picture is changed, and
        write it into the first slot.
        """
        compat, limits = self.context.compat, self.context.limits
        pixels = decode.luma(element, limits) if compat else decode.mask(element, limits)
        drawn = record.parameters(self._augmentation, size_of(pixels), self._layout.size)
        pixels = transformed(pixels, drawn, NEAREST, steps=not compat)
        self._layout.write(pixels, slots[0])
