"""A record: the random draws and the parameters of pictures that all its etl objects share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.draws import Draws

Streams: TypeAlias = Callable[[str], Draws]
"""A function that returns the draws of a record for a purpose, given by name."""


@dataclass
class Record:
    """A record whose elements are being decoded.

    index: the record's index in the manifest. epoch: from 0. picture: parameters. The first etl
    object with pictures or boxes draws them, and all other etl objects of the record use them.
    """

    index: int
    epoch: int
    streams: Streams
    picture: Parameters | None = None

    def draws(self, purpose: str) -> Draws:
        """Return the generator of random numbers for a purpose, such as `"audio.2"` for etl object
        2.

        By default the numbers depend only on seed, epoch, record and purpose, and each call of
        `draws` begins again with the first number. With `compat="aeon"` they continue where aeon's
        generator stopped.
        """
        return self.streams(purpose)

    def parameters(self, augmentation: Augmentation, source: Size, wanted: Size) -> Parameters:
        """Return the parameters of a picture of size `source` for an output of size `wanted`.

        The first call for a record draws the parameters. Later calls adapt them to another picture;
        with `compat` they return them unchanged.
        """
        if self.picture is None:
            self.picture = augmentation.drawn(self.draws("picture"), source, wanted)
            return self.picture
        return augmentation.adapted(self.picture, source, wanted)
