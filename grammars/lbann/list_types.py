"""The six types of sample lists, the parts of each, and the readers of them."""

from enum import StrEnum
from typing import NoReturn


class Kind(StrEnum):
    """The type of a list: the word in its first line."""

    SINGLE_SAMPLE = "SINGLE-SAMPLE"
    MULTI_SAMPLE_EXCLUSION = "MULTI-SAMPLE_EXCLUSION"
    MULTI_SAMPLE_INCLUSION = "MULTI-SAMPLE_INCLUSION"
    MULTI_SAMPLE_INCLUSION_V2 = "MULTI-SAMPLE_INCLUSION_V2"
    CONDUIT_HDF5_EXCLUSION = "CONDUIT_HDF5_EXCLUSION"
    CONDUIT_HDF5_INCLUSION = "CONDUIT_HDF5_INCLUSION"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"unknown type of list {value!r}: choose one of {', '.join(cls)}")

    @property
    def is_single(self) -> bool:
        """Whether each file is one sample."""
        return self is Kind.SINGLE_SAMPLE

    @property
    def is_exclusion(self) -> bool:
        """Whether the ids name excluded samples."""
        return self in (Kind.MULTI_SAMPLE_EXCLUSION, Kind.CONDUIT_HDF5_EXCLUSION)

    @property
    def has_excluded(self) -> bool:
        """Whether it counts excluded samples."""
        return not self.is_single and self is not Kind.MULTI_SAMPLE_INCLUSION_V2

    @property
    def has_label_file(self) -> bool:
        """Whether its fourth line names a label file."""
        return self.is_single or self in (Kind.MULTI_SAMPLE_EXCLUSION, Kind.MULTI_SAMPLE_INCLUSION)


class Reader(StrEnum):
    """A reader of LBANN. It decides, and not the type, what the lines below the header are.

    HDF5: the HDF5, JAG and SMILES readers, whose lines are records. IMAGE: the image reader, whose
    lines are files.
    """

    HDF5 = "hdf5"
    IMAGE = "image"

    def kind_of(self, kind: Kind) -> Kind:
        """Return the type that a list of a type is for this reader."""
        if self is Reader.IMAGE:
            return Kind.SINGLE_SAMPLE
        return Kind.MULTI_SAMPLE_INCLUSION if kind.is_single else kind
