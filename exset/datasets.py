"""`dataset`: read samples by their indices, from a file or a model of any family."""

from dataclasses import dataclass
from os import PathLike, fsdecode
from typing import TYPE_CHECKING, cast

from exset import api, formats, streaming
from exset.core.callers import public
from exset.core.errors import Findings, collect_findings, warn, with_source_name
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model
from exset.families.family import Family, load
from exset.io.access import is_folder
from exset.io.files import FilePath

if TYPE_CHECKING:
    from exset.runtime.training.dataset import Dataset


@public
def dataset(
    source: Model | FilePath,
    *,
    format: str | None = None,
    strict: bool = False,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
    **options: object,
) -> "Dataset":
    """Return a dataset, which reads many samples at a time, by index, as NumPy arrays.

    `source`: a model, or the path of a file or of a folder, such as a cache. `format`: the format
    of a file, as in `load`.

    The options are the options of the format's reader (for a file), `fields` (the names of the
    arrays in a batch), and the options of the family's class:

    - `ExampleDataset`: inputs, targets (the layouts of the network); by ("event" or "example").
    - `ManifestDataset`: names, padded, base, access.
    - `CacheDataset`: types, names, padded.
    - `LoaderDataset`, for a loader configuration of aeon: threads, scaled_decoding, base, access.
    - `SampleReader`, for a sample list: data, experiment (schemas or their paths); base,
      keep_packed, compat, access.

    Findings are reported as `load` does. Raises the errors of the family's class. Raises
    FormatError and OSError for a file, and TypeError for a model without samples and for an unknown
    option.
    """
    found = collect_findings(strict, findings)
    family, opened = _opened(source, format, found, limits, options)
    name = fsdecode(source) if isinstance(source, str | bytes | PathLike) else family.noun
    with with_source_name(name, family.noun, findings=found) as named:
        made = family.dataset_of(opened, findings=named, limits=limits, **options)
        made.name = name
        _ = made.fields  # reads the first sample, so that its errors are raised here
    if findings is None:
        warn(found)
    return made


def _opened(
    source: Model | FilePath,
    format: str | None,
    findings: Findings,
    limits: Limits,
    options: dict[str, object],
) -> tuple[Family, object]:
    """Return the family of a source, and what its dataset reads: a model, a folder or an opener.

    An opener is a function that opens the file, mapped into memory. The options of the format's
    reader are removed from `options`.
    """
    of_folders = next(each for each in formats.families() if each.folder is not None)
    target = cast(str, of_folders.folder)
    if not isinstance(source, str | bytes | PathLike):
        is_cache = isinstance(source, cast(type, load(target)))
        return of_folders if is_cache else formats.family_of(source), source
    name = fsdecode(source)
    found = streaming.folder_of(name, format, limits)
    if is_folder(name) and (found is None or found[1].family == of_folders):
        return of_folders, cast(type, load(target))(name, limits)
    fmt = found[1] if found else (api.detect(name) if format is None else formats.get(format))
    if fmt.maps:
        return fmt.family, _Mapped(name, fmt.name, limits)
    return fmt.family, api.read_whole(name, fmt, options, findings=findings, limits=limits)


@dataclass(frozen=True)
class _Mapped:
    """A function that opens a file, mapped into memory, in the process that calls it."""

    path: str
    format: str
    limits: Limits

    def __call__(self) -> Model:
        return api.load(self.path, format=self.format, limits=self.limits, findings=Findings())
