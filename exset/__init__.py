"""Read, write, check and convert the files that say which samples a network learns from.

Names are loaded when first used (PEP 562), so that `import exset` and `exset --version` stay
light.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exset import formats
    from exset.api import detect, dumps, load, loads, save, stats, validate
    from exset.comparing import diff
    from exset.converting import convert
    from exset.datasets import dataset
    from exset.errors import Finding, Findings, FormatError, FormatWarning, LimitError, Severity
    from exset.format import Format
    from exset.formats import FORMATS
    from exset.grammars.build import Dense, Event, Example, Sparse
    from exset.grammars.examples import ExampleSet, SetHeader
    from exset.grammars.loader_config import LoaderConfig
    from exset.grammars.manifests import Manifest
    from exset.grammars.samples import SampleList
    from exset.grammars.schema import Schema
    from exset.limits import Limits
    from exset.runtime.batches import Batches
    from exset.runtime.cache_dataset import CacheDataset
    from exset.runtime.dataset import Dataset
    from exset.runtime.example_arrays import ExampleArrays, to_arrays
    from exset.runtime.example_csr import Csr, to_csr
    from exset.runtime.example_dataset import ExampleDataset
    from exset.runtime.example_sets import from_arrays
    from exset.runtime.manifest_dataset import ManifestDataset
    from exset.runtime.reading import SampleReader
    from exset.runtime.samplers.base import NxMSampler
    from exset.runtime.samplers.examples import ExampleSampler
    from exset.runtime.samplers.names import build_sampler
    from exset.runtime.samplers.nxm import ExhaustiveNxMSampler, RandomNxMSampler
    from exset.runtime.samplers.planned import PlannedNxMSampler
    from exset.splitting import split
    from exset.streaming import stream
    from exset.writing import writer

__version__ = "0.1.0"

__all__ = [
    "FORMATS",
    "Batches",
    "CacheDataset",
    "Csr",
    "Dataset",
    "Dense",
    "Event",
    "Example",
    "ExampleArrays",
    "ExampleDataset",
    "ExampleSampler",
    "ExampleSet",
    "ExhaustiveNxMSampler",
    "Finding",
    "Findings",
    "Format",
    "FormatError",
    "FormatWarning",
    "LimitError",
    "Limits",
    "LoaderConfig",
    "Manifest",
    "ManifestDataset",
    "NxMSampler",
    "PlannedNxMSampler",
    "RandomNxMSampler",
    "SampleList",
    "SampleReader",
    "Schema",
    "SetHeader",
    "Severity",
    "Sparse",
    "__version__",
    "build_sampler",
    "convert",
    "dataset",
    "detect",
    "diff",
    "dumps",
    "formats",
    "from_arrays",
    "load",
    "loads",
    "save",
    "split",
    "stats",
    "stream",
    "to_arrays",
    "to_csr",
    "validate",
    "writer",
]

_HOMES = {
    "exset.api": ("detect", "dumps", "load", "loads", "save", "stats", "validate"),
    "exset.datasets": ("dataset",),
    "exset.comparing": ("diff",),
    "exset.converting": ("convert",),
    "exset.errors": (
        "Finding",
        "Findings",
        "FormatError",
        "FormatWarning",
        "LimitError",
        "Severity",
    ),
    "exset.format": ("Format",),
    "exset.formats": ("FORMATS",),
    "exset.grammars.build": ("Dense", "Event", "Example", "Sparse"),
    "exset.grammars.examples": ("ExampleSet", "SetHeader"),
    "exset.grammars.manifests": ("Manifest",),
    "exset.grammars.samples": ("SampleList",),
    "exset.grammars.schema": ("Schema",),
    "exset.grammars.loader_config": ("LoaderConfig",),
    "exset.limits": ("Limits",),
    "exset.runtime.batches": ("Batches",),
    "exset.runtime.cache_dataset": ("CacheDataset",),
    "exset.runtime.dataset": ("Dataset",),
    "exset.runtime.example_arrays": ("ExampleArrays", "to_arrays"),
    "exset.runtime.example_csr": ("Csr", "to_csr"),
    "exset.runtime.example_dataset": ("ExampleDataset",),
    "exset.runtime.example_sets": ("from_arrays",),
    "exset.runtime.manifest_dataset": ("ManifestDataset",),
    "exset.runtime.samplers.base": ("NxMSampler",),
    "exset.runtime.samplers.examples": ("ExampleSampler",),
    "exset.runtime.samplers.names": ("build_sampler",),
    "exset.runtime.samplers.nxm": ("ExhaustiveNxMSampler", "RandomNxMSampler"),
    "exset.runtime.samplers.planned": ("PlannedNxMSampler",),
    "exset.runtime.reading": ("SampleReader",),
    "exset.splitting": ("split",),
    "exset.streaming": ("stream",),
    "exset.writing": ("writer",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


# Hidden from type checkers, which would take any name for one of ours.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name from its module on first use."""
        if name == "formats":
            return import_module("exset.formats")
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """List the public names, loaded or not."""
        return sorted({*globals(), *__all__})
