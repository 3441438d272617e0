"""Open the training-data files of Lens, LBANN, aeon and BA-LR without the original programs.

exset inspects, checks and converts these files, and loads them into NumPy, CuPy or PyTorch.

Public names are imported when they are first used (PEP 562). So `import exset` is fast, and so is
`exset --version`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exset import edit as edit
    from exset import formats as formats
    from exset import jobs as jobs
    from exset import provisioning as provisioning
    from exset.api import detect as detect
    from exset.api import dumps as dumps
    from exset.api import load as load
    from exset.api import loads as loads
    from exset.api import save as save
    from exset.api import stats as stats
    from exset.checking import validate as validate
    from exset.codecs.custom.layout import Layout as Layout
    from exset.codecs.custom.layout import compile_layout as compile_layout
    from exset.comparing import diff as diff
    from exset.converting import convert as convert
    from exset.core.errors import Finding as Finding
    from exset.core.errors import Findings as Findings
    from exset.core.errors import FormatError as FormatError
    from exset.core.errors import FormatWarning as FormatWarning
    from exset.core.errors import LimitError as LimitError
    from exset.core.errors import Severity as Severity
    from exset.core.limits import Limits as Limits
    from exset.datasets import dataset as dataset
    from exset.families.format import Format as Format
    from exset.formats import FORMATS as FORMATS
    from exset.formatting import canonical as canonical
    from exset.grammars.aeon.config.model import LoaderConfig as LoaderConfig
    from exset.grammars.aeon.manifest import Manifest as Manifest
    from exset.grammars.lbann.sample_list import SampleList as SampleList
    from exset.grammars.lbann.schema import Schema as Schema
    from exset.grammars.lens.build import Dense as Dense
    from exset.grammars.lens.build import Event as Event
    from exset.grammars.lens.build import Example as Example
    from exset.grammars.lens.build import Sparse as Sparse
    from exset.grammars.lens.examples import ExampleSet as ExampleSet
    from exset.grammars.lens.examples import SetHeader as SetHeader
    from exset.grammars.tables.table import Table as Table
    from exset.parsers.custom.conversions import action as action
    from exset.parsers.custom.grammar import Grammar as Grammar
    from exset.parsers.custom.grammar import compile_grammar as compile_grammar
    from exset.plotting import plot as plot
    from exset.runtime.aeon.cache_dataset import CacheDataset as CacheDataset
    from exset.runtime.aeon.manifest_dataset import ManifestDataset as ManifestDataset
    from exset.runtime.aeon.provision.loader import DataLoader as DataLoader
    from exset.runtime.lbann.sample_reader import SampleReader as SampleReader
    from exset.runtime.lens.arrays import ExampleArrays as ExampleArrays
    from exset.runtime.lens.arrays import to_arrays as to_arrays
    from exset.runtime.lens.csr import Csr as Csr
    from exset.runtime.lens.csr import to_csr as to_csr
    from exset.runtime.lens.dataset import ExampleDataset as ExampleDataset
    from exset.runtime.lens.example_sampler import ExampleSampler as ExampleSampler
    from exset.runtime.lens.from_arrays import from_arrays as from_arrays
    from exset.runtime.samplers.base import NxMSampler as NxMSampler
    from exset.runtime.samplers.nxm import ExhaustiveNxMSampler as ExhaustiveNxMSampler
    from exset.runtime.samplers.nxm import RandomNxMSampler as RandomNxMSampler
    from exset.runtime.samplers.planned import PlannedNxMSampler as PlannedNxMSampler
    from exset.runtime.samplers.registry import build_sampler as build_sampler
    from exset.runtime.training.batches import Batches as Batches
    from exset.runtime.training.dataset import Dataset as Dataset
    from exset.splitting import split as split
    from exset.streaming import stream as stream
    from exset.tables import from_table as from_table
    from exset.tables import to_table as to_table
    from exset.writing import writer as writer

__version__ = "0.1.0"

_MODULES = {
    "exset.api": "detect dumps load loads save stats",
    "exset.formatting": "canonical",
    "exset.checking": "validate",
    "exset.codecs.custom.layout": "Layout compile_layout",
    "exset.comparing": "diff",
    "exset.converting": "convert",
    "exset.core.errors": "Finding Findings FormatError FormatWarning LimitError Severity",
    "exset.core.limits": "Limits",
    "exset.datasets": "dataset",
    "exset.families.format": "Format",
    "exset.formats": "FORMATS",
    "exset.grammars.aeon.config.model": "LoaderConfig",
    "exset.grammars.aeon.manifest": "Manifest",
    "exset.grammars.lbann.sample_list": "SampleList",
    "exset.grammars.lbann.schema": "Schema",
    "exset.grammars.lens.build": "Dense Event Example Sparse",
    "exset.grammars.lens.examples": "ExampleSet SetHeader",
    "exset.grammars.tables.table": "Table",
    "exset.parsers.custom.conversions": "action",
    "exset.parsers.custom.grammar": "Grammar compile_grammar",
    "exset.plotting": "plot",
    "exset.runtime.aeon.cache_dataset": "CacheDataset",
    "exset.runtime.aeon.manifest_dataset": "ManifestDataset",
    "exset.runtime.aeon.provision.loader": "DataLoader",
    "exset.runtime.lbann.sample_reader": "SampleReader",
    "exset.runtime.lens.arrays": "ExampleArrays to_arrays",
    "exset.runtime.lens.csr": "Csr to_csr",
    "exset.runtime.lens.dataset": "ExampleDataset",
    "exset.runtime.lens.example_sampler": "ExampleSampler",
    "exset.runtime.lens.from_arrays": "from_arrays",
    "exset.runtime.samplers.base": "NxMSampler",
    "exset.runtime.samplers.nxm": "ExhaustiveNxMSampler RandomNxMSampler",
    "exset.runtime.samplers.planned": "PlannedNxMSampler",
    "exset.runtime.samplers.registry": "build_sampler",
    "exset.runtime.training.batches": "Batches",
    "exset.runtime.training.dataset": "Dataset",
    "exset.splitting": "split",
    "exset.streaming": "stream",
    "exset.tables": "from_table to_table",
    "exset.writing": "writer",
}
"""For each module, the public names that are imported from it."""

_WHOLE = ("edit", "formats", "jobs", "provisioning")
"""The modules that are public as a whole."""

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted([*_MODULE_OF, *_WHOLE, "__version__"])


# Type checkers must not see this: they would accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name from its module on first use."""
        if name in _WHOLE:
            return import_module(f"exset.{name}")
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """List the public names, loaded or not."""
        return sorted({*globals(), *__all__})
