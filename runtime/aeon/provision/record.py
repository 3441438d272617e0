"""What the etl objects of one record share: random draws, and the parameters of its pictures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.draws import Draws

Streams: TypeAlias = Callable[[str], Draws]
"""Returns the draws of a record for a purpose, by the name of the purpose."""


@dataclass
class Record:
    """A record while its elements are provided.

    index: its index among the records of the manifest. epoch: from 0. picture: the parameters that
    the first etl object with pictures or boxes has drawn; all others of the record use them (Q1).
    """

    index: int
    epoch: int
    streams: Streams
    picture: Parameters | None = None

    def draws(self, purpose: str) -> Draws:
        """Return the draws for a purpose, such as `"audio.2"` for etl object 2.

        By default they depend on seed, epoch, record and purpose alone, and each call begins with
        the first draw. With `compat="aeon"` they go on where aeon's generator has stopped.
        """
        return self.streams(purpose)

    def parameters(self, augmentation: Augmentation, source: Size, wanted: Size) -> Parameters:
        """Return the parameters for a picture of a size, and the wanted size of the output.

        The first call of a record draws them; then they are adapted to the other picture, but not
        with `compat`.
        """
        if self.picture is None:
            self.picture = augmentation.drawn(self.draws("picture"), source, wanted)
            return self.picture
        return augmentation.adapted(self.picture, source, wanted)
