"""The options of tables of sample lists."""

from collections.abc import Iterable
from typing import Final, TypedDict

from exset.grammars.lbann.schema import Schema
from exset.io.access import Access
from exset.io.files import FilePath

FAMILY: Final = "lbann"
"""The name of the family in the metadata of tables."""


class Options(TypedDict, total=False):
    """How to read the fields of samples for a table. The options are those of `SampleReader`."""

    data: Schema | FilePath
    experiment: Schema | FilePath
    fields: Iterable[str]
    base: str
    keep_packed: bool
    access: Access
