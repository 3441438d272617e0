"""The six types of sample lists with their properties, and the readers of LBANN."""

from enum import StrEnum
from typing import NoReturn


class Kind(StrEnum):
    """The type of a sample list, which is the word in the list's first line."""

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
        """Whether each file of the list is one sample."""
        return self is Kind.SINGLE_SAMPLE

    @property
    def is_exclusion(self) -> bool:
        """Whether the ids name excluded samples."""
        return self in (Kind.MULTI_SAMPLE_EXCLUSION, Kind.CONDUIT_HDF5_EXCLUSION)

    @property
    def has_excluded(self) -> bool:
        """Whether each line of the list has the number of the file's excluded samples."""
        return not self.is_single and self is not Kind.MULTI_SAMPLE_INCLUSION_V2

    @property
    def has_label_file(self) -> bool:
        """Whether the fourth line of the list names a label file."""
        return self.is_single or self in (Kind.MULTI_SAMPLE_EXCLUSION, Kind.MULTI_SAMPLE_INCLUSION)


class Reader(StrEnum):
    """A reader of LBANN. The reader, not the type of the list, decides how LBANN reads the lines.

    HDF5: the HDF5, JAG and SMILES readers. They read each line as a file with counts and ids.
    IMAGE: the image reader. It reads each line as the name of one file.
    """

    HDF5 = "hdf5"
    IMAGE = "image"

    def kind_of(self, kind: Kind) -> Kind:
        """Return the type that this reader assumes for a list of the type `kind`."""
        if self is Reader.IMAGE:
            return Kind.SINGLE_SAMPLE
        return Kind.MULTI_SAMPLE_INCLUSION if kind.is_single else kind
