"""The etl type `image`: decode a picture, augment it, write it into its slot."""

from collections.abc import Sequence

from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.augment import Augmentation
from exset.runtime.aeon.provision.debugging import DebugFolder
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.layout import DTYPES, Layout, standardized
from exset.runtime.aeon.provision.photometry import recoloured
from exset.runtime.aeon.provision.pixels import transformed
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.scaling import decoded


class Image(Etl):
    """Provides pictures, which are augmented."""

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        super().__init__(settings, number, context)
        augmentation = Augmentation.of(context.augmentation("image"), context.compat)
        self._augmentation = augmentation
        self._layout = Layout.of(settings, augmentation.fixed_aspect_ratio, context.compat)
        dtype = "uint8" if self._layout.writes_bytes else DTYPES[str(settings["output_type"])]
        mean, stddev = augmentation.mean, augmentation.stddev
        self._table = standardized(mean, stddev, dtype) if mean and stddev else None
        self._debug = DebugFolder.of(context, number)

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Decode the picture in the file `element`, augment it, and write it into the first slot.

        record: has the random parameters that all pictures of the record share.
        """
        layout = self._layout
        pixels, drawn = decoded(element, layout, self._augmentation, record, self.context)
        pixels = transformed(pixels, drawn, self._augmentation.interpolation_method)
        pixels = recoloured(pixels, drawn, self._augmentation)
        if self._debug is not None:
            self._debug.write(pixels, drawn, record)
        layout.write(pixels, slots[0], self._table)
