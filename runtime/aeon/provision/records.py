"""The records that a configuration selects, and the source of their elements."""

import os
from dataclasses import dataclass, replace

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.source import Source
from exset.core.text import Advice
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_types import Dialect
from exset.grammars.columns.arrays import Longs
from exset.io.access import Access
from exset.io.beneath import open_regular
from exset.parsers.aeon.manifest import parse
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_dataset import CacheDataset
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.provision.elements import (
    CacheElements,
    ElementSource,
    ManifestElements,
)
from exset.runtime.aeon.provision.etl import Context
from exset.runtime.aeon.selection import BLOCK_SIZE, select_records

_RELATIVE = "a relative path starts at the current folder, or at <--base or base=...>"


@dataclass(frozen=True)
class Records:
    """The records that a configuration selects, in the order in which the manifest is shuffled.

    name: the path of the manifest. indices: int64 [records], the records' indices in the whole
    manifest.
    """

    name: str
    manifest: Manifest
    indices: Longs
    elements: ElementSource

    def __len__(self) -> int:
        return len(self.manifest)

    def index(self, row: int) -> int:
        """Return the index of the selected record `row` in the whole manifest."""
        return int(self.indices[row])

    def place(self, row: int, column: int) -> Place:
        """Return the place in the manifest of an element of the selected record `row`."""
        line = int(self.manifest.lines[row])
        return Place(self.name, line=line or None, field=f"[{self.index(row)}][{column}]")


def open_records(context: Context, seed: int, findings: Findings, *, tolerant: bool) -> Records:
    """Read the manifest of a configuration, select its records, and open or build its cache.

    seed: the seed of the shuffle. tolerant: if no cache can be built, read the files of the
    manifest instead. Raises FormatError, LimitError and OSError for the manifest and the cache, and
    FormatError for a manifest without records.
    """
    config, is_seed = context.config, context.is_seed
    path = context.path(str(config["manifest_filename"]))
    try:
        with open_regular(path, context.access.roots) as file:
            source = Source(path, file.read())
    except FileNotFoundError as error:
        why = Advice.of(f"{error.strerror}: {_RELATIVE}")
        raise FileNotFoundError(error.errno, why, path) from None
    dialect = Dialect.SEED if is_seed else Dialect.HEAD if context.compat else None
    whole = parse(source, limits=context.limits, findings=findings, dialect=dialect)
    if not len(whole):
        message, hint = "the manifest has no records", "aeon's loader rejects it"
        raise FormatError(message, place=Place(path), hint=hint, code="aeon-no-records")
    root = os.fsencode(str(config["manifest_root"]))
    base = os.fsdecode(joined(os.fsencode(context.base), root)) if root else context.base
    selection = Selection(
        replace(whole, dialect=Dialect.SEED if is_seed else Dialect.HEAD),
        config.settings.real("subset_fraction"),
        bool(config["shuffle_manifest"]),
        seed,
    )
    indices = selection.indices()
    manifest = whole.select(indices)
    elements: ElementSource = ManifestElements(
        manifest, base, context.access, context.limits.max_batch
    )
    directory, nodes = str(config["cache_directory"]), 0
    if not is_seed:
        nodes = config.settings.number("node_count")
    if directory and nodes < 2:
        try:
            elements = _cached(selection, context, base, context.path(directory))
        except BlockingIOError:  # another process is building it
            pass
        except FormatError as error:
            if not tolerant:
                raise
            findings.add(error.finding)
    return Records(path, manifest, indices, elements)


@dataclass(frozen=True)
class Selection:
    """The members of a configuration that select records of a manifest."""

    manifest: Manifest
    subset_fraction: float
    shuffle_manifest: bool
    random_seed: int

    def indices(self) -> Longs:
        """Return the indices of the selected records."""
        numbered = replace(self.manifest, lines=np.arange(len(self.manifest), dtype=np.int32))
        selected, _ = select_records(
            numbered,
            subset_fraction=self.subset_fraction,
            shuffle_manifest=self.shuffle_manifest,
            random_seed=self.random_seed,
        )
        return selected.lines.astype(np.int64)

    def plan(self, base: str, block_size: int, access: Access) -> Plan:
        """Return the plan of the cache of the selected records."""
        return Plan.of(
            self.manifest,
            base=base,
            block_size=block_size,
            subset_fraction=self.subset_fraction,
            shuffle_manifest=self.shuffle_manifest,
            random_seed=self.random_seed,
            access=access,
        )


def _cached(selection: Selection, context: Context, base: str, directory: str) -> CacheElements:
    """Build the cache if it is not complete, and return its elements.

    aeon's last version stores the records in their shuffled order, but the name of the cache does
    not depend on the seed. So with another seed, aeon would read a cache in the order of the first
    seed. By default exset stores the records in the order of the manifest.
    """
    rows = selection.indices()
    if not (context.is_seed or context.compat):
        selection = replace(selection, shuffle_manifest=False)
    size = BLOCK_SIZE if context.is_seed else context.config.block_size
    plan = selection.plan(base, size, context.access)
    built = build(plan, directory)
    cache = Cache(built.folder, context.limits, context.access.roots)
    dataset = CacheDataset(cache, types=plan.manifest.types, limits=context.limits)
    order = np.empty(len(selection.manifest), np.int64)
    order[selection.indices()] = np.arange(len(dataset))
    return CacheElements(dataset, order[rows])
