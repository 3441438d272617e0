"""The protocol of an etl type. It turns the element of a record into the arrays of a batch."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from numpy.typing import NDArray

from exset.core.errors import FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.text import safe
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.outputs import Output, Shapes, element_outputs
from exset.grammars.aeon.config.schema_types import Member
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.aeon.manifest import joined
from exset.grammars.aeon.manifest_findings import finding_at
from exset.io.access import DEFAULT_ACCESS, Access, is_inside
from exset.runtime.aeon.manifest_files import path_of
from exset.runtime.aeon.provision.record import Record

Slot: TypeAlias = NDArray[Any]
"""The part of a batch's array for one record: contiguous, and filled with 0."""


@dataclass(frozen=True)
class Context:
    """The settings of a loader that its etl objects need.

    compat: whether to return the same values as aeon, with its defects. base: the current folder of
    aeon, for the files that the configuration names. access: which of these files may be read.
    limits: for these files and for elements. scaled_decoding: whether to decode large JPEGs in a
    smaller size. writes_debug: whether to write to the folder `debug_output_directory`.
    """

    config: LoaderConfig
    compat: bool = False
    base: str = ""
    access: Access = DEFAULT_ACCESS
    limits: Limits = DEFAULT
    scaled_decoding: bool = False
    writes_debug: bool = False

    @property
    def is_seed(self) -> bool:
        """Whether the configuration is for aeon of April 2017 (dialect `seed`)."""
        return self.config.dialect == "seed"

    def path(self, value: str) -> str:
        """Return the path that must be opened for `value`, the path of a file in the configuration.

        Raises FormatError if the file is outside the roots of `access`.
        """
        path = os.fsdecode(path_of(joined(os.fsencode(self.base), os.fsencode(value))))
        if not is_inside(path, self.access.roots):
            outside = finding_at("aeon-file-outside", Place(path), path=safe(path))
            raise FormatError.of(outside)
        return path

    def augmentation(self, kind: str) -> Settings:
        """Return the augmentation of type `kind`, `"image"` or `"audio"`; by default, its default
        values.
        """
        for first in self.config.augmentation[:1]:
            if first.type == kind:
                return first
        return Settings(f"augmentation {kind}", self.config.dialect, {})


class Etl(ABC):
    """The settings of an etl object, and the methods that decode elements by these settings.

    An Etl keeps no state, so threads may share it.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Make the decoder for the etl object `etl[number]` of a checked configuration.

        Raises FormatError for members with which no element can be decoded.
        """
        self.settings = settings
        self.number = number
        self.context = context

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The arrays of a record, in order. With `compat` they are the same as
        `LoaderConfig.outputs`.
        """
        return tuple(element_outputs(self.settings, meant=not self.context.compat))

    @abstractmethod
    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the arrays of an element into `slots`, one for each output. The element is not
        empty.

        Raises FormatError with the reason, as in `not a picture that OpenCV can decode`; the loader
        adds the record, the element and the file to the message.
        """


class CustomEtl(Etl):
    """The base class of etl types that you add with `exset.provisioning.register`."""

    members: ClassVar[Sequence[Member]] = ()
    """The members of an etl object, next to `type` and `name`."""

    @staticmethod
    @abstractmethod
    def shapes(settings: Settings) -> Shapes:
        """Yield (name, shape, type, axes) for each array of a record.

        The type is a C++ type, such as `"float"`. The axes are the names of the array's axes, or ()
        for none.
        """
