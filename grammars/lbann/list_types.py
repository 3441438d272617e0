"""The types of sample lists, and what each has."""

from enum import StrEnum
from typing import NoReturn


class Kind(StrEnum):
    """The type of a list, in its first line."""

    SINGLE_SAMPLE = "SINGLE-SAMPLE"
    MULTI_SAMPLE_EXCLUSION = "MULTI-SAMPLE_EXCLUSION"
    MULTI_SAMPLE_INCLUSION = "MULTI-SAMPLE_INCLUSION"
    MULTI_SAMPLE_INCLUSION_V2 = "MULTI-SAMPLE_INCLUSION_V2"
    CONDUIT_HDF5_EXCLUSION = "CONDUIT_HDF5_EXCLUSION"
    CONDUIT_HDF5_INCLUSION = "CONDUIT_HDF5_INCLUSION"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"no kind of list is called {value!r}; there are {', '.join(cls)}")

    @property
    def is_single(self) -> bool:
        """Whether each file is one sample."""
        return self is Kind.SINGLE_SAMPLE

    @property
    def is_exclusion(self) -> bool:
        """Whether ids are those of samples that are not used."""
        return self in (Kind.MULTI_SAMPLE_EXCLUSION, Kind.CONDUIT_HDF5_EXCLUSION)

    @property
    def has_excluded(self) -> bool:
        """Whether it counts the samples that are not used."""
        return not self.is_single and self is not Kind.MULTI_SAMPLE_INCLUSION_V2

    @property
    def has_label_file(self) -> bool:
        """Whether its fourth line names a file of labels."""
        return self.is_single or self in (
            Kind.MULTI_SAMPLE_EXCLUSION,
            Kind.MULTI_SAMPLE_INCLUSION,
        )
