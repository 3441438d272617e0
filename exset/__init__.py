"""Open the training-data files of Lens, LBANN, aeon and BA-LR without the original programs.

It inspects, checks and converts them, and loads them into NumPy, CuPy or PyTorch.

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
    from exset.core.errors import (
        Finding,
        Findings,
        FormatError,
        FormatWarning,
        LimitError,
        Severity,
    )
    from exset.core.limits import Limits
    from exset.datasets import dataset
    from exset.families.format import Format
    from exset.formats import FORMATS
    from exset.grammars.aeon.config.model import LoaderConfig
    from exset.grammars.aeon.manifest import Manifest
    from exset.grammars.lbann.sample_list import SampleList
    from exset.grammars.lbann.schema import Schema
    from exset.grammars.lens.build import Dense, Event, Example, Sparse
    from exset.grammars.lens.examples import ExampleSet, SetHeader
    from exset.runtime.aeon.cache_dataset import CacheDataset
    from exset.runtime.aeon.manifest_dataset import ManifestDataset
    from exset.runtime.lbann.sample_reader import SampleReader
    from exset.runtime.lens.arrays import ExampleArrays, to_arrays
    from exset.runtime.lens.csr import Csr, to_csr
    from exset.runtime.lens.dataset import ExampleDataset
    from exset.runtime.lens.example_sampler import ExampleSampler
    from exset.runtime.lens.from_arrays import from_arrays
    from exset.runtime.samplers.base import NxMSampler
    from exset.runtime.samplers.nxm import ExhaustiveNxMSampler, RandomNxMSampler
    from exset.runtime.samplers.planned import PlannedNxMSampler
    from exset.runtime.samplers.registry import build_sampler
    from exset.runtime.training.batches import Batches
    from exset.runtime.training.dataset import Dataset
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
    "exset.core.errors": (
        "Finding",
        "Findings",
        "FormatError",
        "FormatWarning",
        "LimitError",
        "Severity",
    ),
    "exset.families.format": ("Format",),
    "exset.formats": ("FORMATS",),
    "exset.grammars.lens.build": ("Dense", "Event", "Example", "Sparse"),
    "exset.grammars.lens.examples": ("ExampleSet", "SetHeader"),
    "exset.grammars.aeon.manifest": ("Manifest",),
    "exset.grammars.lbann.sample_list": ("SampleList",),
    "exset.grammars.lbann.schema": ("Schema",),
    "exset.grammars.aeon.config.model": ("LoaderConfig",),
    "exset.core.limits": ("Limits",),
    "exset.runtime.training.batches": ("Batches",),
    "exset.runtime.aeon.cache_dataset": ("CacheDataset",),
    "exset.runtime.training.dataset": ("Dataset",),
    "exset.runtime.lens.arrays": ("ExampleArrays", "to_arrays"),
    "exset.runtime.lens.csr": ("Csr", "to_csr"),
    "exset.runtime.lens.dataset": ("ExampleDataset",),
    "exset.runtime.lens.from_arrays": ("from_arrays",),
    "exset.runtime.aeon.manifest_dataset": ("ManifestDataset",),
    "exset.runtime.samplers.base": ("NxMSampler",),
    "exset.runtime.lens.example_sampler": ("ExampleSampler",),
    "exset.runtime.samplers.registry": ("build_sampler",),
    "exset.runtime.samplers.nxm": ("ExhaustiveNxMSampler", "RandomNxMSampler"),
    "exset.runtime.samplers.planned": ("PlannedNxMSampler",),
    "exset.runtime.lbann.sample_reader": ("SampleReader",),
    "exset.splitting": ("split",),
    "exset.streaming": ("stream",),
    "exset.writing": ("writer",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


# Type checkers must not see this: they would accept any name.
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
