"""`dataset`: samples by their indices, of a model of any family or of a file."""

from dataclasses import dataclass
from os import PathLike, fsdecode, path
from typing import TYPE_CHECKING

from exset import api, formats
from exset.core.errors import Findings, NamedFindings, blaming, heard, warn
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model
from exset.families import family as families
from exset.io.files import FilePath

if TYPE_CHECKING:
    from exset.runtime.training.dataset import Dataset


def dataset(
    given: Model | FilePath,
    *,
    format: str | None = None,
    strict: bool = False,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
    **options: object,
) -> "Dataset":
    """Return what reads samples by their indices, many at a time, as arrays of NumPy.

    given: a model, or the path of a file, or of the folder of a cache; format: as `load`, of a
    file. The options are those of the family: `ExampleDataset` (inputs, targets: the layouts of the
    network; by: "event" or "example"), `ManifestDataset` (names, padded, root, access),
    `CacheDataset` (types, names, padded), and `SampleReader` for a sample list (data, experiment:
    its schemas; base, keep_packed, compat, access).

    What is odd is told as `load` does. Raises what the family's class raises, FormatError and
    OSError for a file, and TypeError for what has no samples and for an option that there is not.
    """
    told = heard(strict, findings)
    family, model = _opened(given, format, told, limits)
    name = fsdecode(given) if isinstance(given, str | bytes | PathLike) else family.noun
    with blaming(name, family.noun):
        named = NamedFindings(name, (family.noun,), told)
        made = family.dataset_of(model, findings=named, limits=limits, **options)
        made.name = name
        _ = made.fields  # what is wrong with the first sample is told now
    if findings is None:
        warn(told, 3)
    return made


def _opened(
    given: Model | FilePath, format: str | None, findings: Findings, limits: Limits
) -> tuple[families.Family, object]:
    """What a dataset is made of, and its family; what is mapped into memory is opened by path."""
    from exset.runtime.aeon.cache import Cache

    if isinstance(given, str | bytes | PathLike):
        name = fsdecode(given)
        if path.isdir(name):
            return families.BLOCKS, Cache(name, limits)
        known = api.detect(name) if format is None else formats.get(format)
        if known.maps:
            return known.family, _Block(name, known.name, limits)
        model = api.load(name, format=known.name, limits=limits, findings=findings)
        return known.family, model
    return families.BLOCKS if isinstance(given, Cache) else formats.family_of(given), given


@dataclass(frozen=True)
class _Block:
    """Opens the block that a file is, in the process that wants it."""

    path: str
    format: str
    limits: Limits

    def __call__(self) -> Model:
        return api.load(self.path, format=self.format, limits=self.limits, findings=Findings())
