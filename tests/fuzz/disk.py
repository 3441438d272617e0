"""Check the promises about folders, and about files that name other files, on the disk.

Each case has a new folder. These checks raise Broken with two more rules than the contract:
outside: exset changed a file that it only reads, or wrote outside of the target;
whole: a cache that exset built or repaired is not complete, files without findings cannot be read,
    or reading twice gives different values.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, ParamSpec, TypeVar

import numpy as np

from exset import formats
from exset.core.errors import Findings, FormatError, Severity
from exset.core.protocols import CheckOptions, Model
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.schema import Schema
from exset.io import files
from exset.io.access import Access
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import Built, build, repair
from exset.runtime.aeon.cache_dataset import CacheDataset
from exset.runtime.aeon.cache_extract import extract_cache
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.elements import encoded
from exset.runtime.aeon.manifest_dataset import ManifestDataset
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.objects import is_group
from exset.runtime.lbann import hdf5_files, list_build, schema_build
from exset.runtime.lbann.hdf5_probe import Probe
from exset.runtime.lbann.list_exclusion import to_inclusion
from exset.runtime.lbann.list_files import check
from exset.runtime.lbann.sample_reader import SampleReader
from exset.runtime.training.dataset import Dataset
from exset.testing.contract import LIMITS, Broken, check_finding, described
from tests.fuzz.folders import created
from tests.lbann.hdf5_lists import samples_like

P = ParamSpec("P")
R = TypeVar("R")

_LIMITS = LIMITS.with_(max_array=1 << 22)


def attempt(what: str, act: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Return the result of a call, or None if it raises FormatError or OSError.

    Raises Broken for any other exception, for an error that is not safe to show, and for an OSError
    without a number.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return act(*args, **kwargs)
    except Broken:
        raise
    except FormatError as error:
        check_finding(error.finding)
        return None
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            return None
        raise Broken("raises", f"{what}: {described(error)}") from error


def check_cache(data: bytes, number: int | None, written: bool) -> bool:
    """Check aeon's caches: `data` is a folder with `manifest.tsv`, files and a cache.

    written: check extracted, repaired and built caches, too.
    """
    with created(data) as folder:
        inside = (each.path for each in sorted(os.scandir(folder), key=_name) if each.is_dir())
        path = next((each for each in inside if "cache" in os.path.basename(each)), folder)
        outs = [f"{folder}-out{number}" for number in range(4)]
        with _untouched(folder, *outs):
            cache = attempt("Cache", Cache, path, _LIMITS)
            if cache is not None:
                _look_at(cache)
            manifest = _read("manifest", os.path.join(folder, "manifest.tsv"))
            plan = None
            if isinstance(manifest, Manifest) and len(manifest):
                plan = Plan.of(manifest, base=folder, block_size=2, access=Access(roots=(folder,)))
            for out, (damaged, some) in zip(
                outs, product((False, True), (None, plan)), strict=True
            ):
                if cache is not None and written:
                    _extract(cache, out, damaged, some)
        if plan is None or not written:
            return cache is not None
        with _untouched(folder, path, os.path.join(folder, plan.folder)):
            for way, where in ((repair, path), (build, folder)):
                built = attempt(way.__name__, way, plan, where, clock=lambda: 0.0)
                if built is not None:
                    _is_whole(plan, built)
        return cache is not None


def check_hdf5(data: bytes, number: int | None, written: bool) -> bool:
    """Check the readers of HDF5: `data` is a file of samples.

    written: check the schema and the list that are built of it, and read the samples, too.
    """
    with created(b"==> a.h5 <==\n" + data) as folder:
        path = os.path.join(folder, "a.h5")
        access = Access(roots=(folder,), links=number is None or number % 3 == 0)
        with _untouched(folder):
            if attempt("datasets", _all_datasets, path, access) is None:
                return False
            if not written:
                return True
            built = attempt(
                "schema build", schema_build.build, [path],
                normalise="unit", access=access, limits=_LIMITS,
            )  # fmt: skip
            if built is not None:
                _shown(built.findings)
                how: dict[str, Any] = {"access": access, "limits": _LIMITS}
                found = attempt("samples", samples_like, built.prototype, [path], **how)
                pairs = [(path, each) for each in found[path]] if found else []
                expected = attempt("experiment", schema_build.experiment, built.schema)
                if expected is not None and pairs:
                    _read_samples(pairs, built.schema, expected, access)
            attempt("list build", _list_of, path, access)
    return True


def check_list(data: bytes, number: int | None, written: bool) -> bool:
    """Check sample lists: `data` is a folder with a list and the files that it names.

    written: write the list as another kind, and read the samples, too.
    """
    with created(data) as folder, _untouched(folder):
        findings = Findings()
        samples = _read("sample_list", os.path.join(folder, "x.sample_list"), findings)
        if not isinstance(samples, SampleList):
            return False
        access = Access(roots=(folder,), links=number is None or number % 3 == 0)
        check = formats.get("sample_list").family.file_check
        assert check is not None
        options = CheckOptions("x", folder, access, limits=_LIMITS)
        attempt("check", check, samples, findings, options)
        _shown(findings)
        if samples.kind.is_exclusion:
            probe = Probe(folder, 1, access, _LIMITS)
            resolved = attempt("to_inclusion", to_inclusion, samples, probe, Findings())
            if resolved is None and _is_sound(findings):
                raise Broken("whole", f"no findings, but the list cannot be resolved: {samples!r}")
            samples = resolved or samples
        elif _is_sound(findings) and not samples.kind.is_single and not samples.has_integer_ids:
            for name, sample in samples.pairs():
                if attempt("find", _lacks, os.path.join(folder, name), str(sample), access):
                    raise Broken("whole", f"no findings, but the file has no sample {sample}")
        if not written:
            return True
        kinds = [*Kind] if number is None else [[*Kind][number % len(Kind)]]
        for kind in kinds:
            attempt(
                f"as {kind}", formats.get("sample_list").write, samples,
                findings=Findings(), kind=kind, base=folder, root=folder, lossy=bool(len(kind) % 2),
            )  # fmt: skip
        schemas = [
            _read("schema", os.path.join(folder, name)) for name in ("data.yaml", "experiment.yaml")
        ]
        if not samples.kind.is_exclusion and not samples.kind.is_single and len(samples):
            one, other = schemas
            if isinstance(one, Schema) and isinstance(other, Schema):
                _read_samples(samples, one, other, access, folder)
    return True


def check_manifest(data: bytes, number: int | None, written: bool) -> bool:
    """Check manifests: `data` is a folder with a manifest and the files that it names.

    written: check the cache that is built of it, too.
    """
    with created(data) as folder, _untouched(folder, f"{folder}-out"):
        findings = Findings()
        manifest = _read("manifest", os.path.join(folder, "manifest.tsv"), findings)
        if not isinstance(manifest, Manifest):
            return False
        access = Access(roots=(folder,))
        check = formats.get("manifest").family.file_check
        assert check is not None
        options = CheckOptions("x", folder, access, limits=_LIMITS)
        attempt("check", check, manifest, findings, options)
        _shown(findings)
        dataset = attempt(
            "dataset", ManifestDataset, manifest, base=folder, access=access, limits=_LIMITS
        )
        arrays = None if dataset is None else _arrays(dataset)
        if arrays is None and _is_sound(findings):
            raise Broken("whole", "no findings, but the manifest cannot be read")
        if len(manifest) and written:
            plan = Plan.of(manifest, base=folder, block_size=2, access=access)
            out = f"{folder}-out"
            os.mkdir(out)
            built = attempt("build", build, plan, out, clock=lambda: 0.0)
            if built is not None:
                _is_whole(plan, built)
            elif _is_sound(findings):
                raise Broken("whole", "no findings, but exset cannot build a cache")
    return True


def _name(entry: "os.DirEntry[str]") -> str:
    return entry.name


def _read(name: str, path: str, findings: Findings | None = None) -> Model | None:
    """Read a plain file of a format; return None if that fails."""
    if not os.path.isfile(path):
        return None
    source = attempt("read", files.read, path, limits=_LIMITS)
    if source is None:
        return None
    found = Findings() if findings is None else findings
    return attempt(name, formats.get(name).read, source, limits=_LIMITS, findings=found)


def _is_sound(findings: Findings) -> bool:
    return findings.worst in (None, Severity.NOTE)


def _shown(findings: Iterable[Any]) -> None:
    for finding in findings:
        check_finding(finding)


def _look_at(cache: Cache) -> None:
    findings = Findings()
    attempt("check", cache.check, findings)
    attempt("owner", lambda: str(cache.owner))
    _shown(findings)
    read = attempt("records", lambda: [[bytes(e) for e in row] for block in cache for row in block])
    if (read is None) == _is_sound(findings):
        raise Broken(
            "whole", f"{'not ' * (read is None)}read, but the findings are {[*map(str, findings)]}"
        )
    dataset = attempt("dataset", CacheDataset, cache, limits=_LIMITS)
    if dataset is not None:
        _arrays(dataset)


def _arrays(dataset: Dataset) -> dict[str, Any] | None:
    """Return the arrays of a dataset; reading them twice must give the same values."""
    one = attempt("arrays", dataset.to_arrays)
    other = attempt("arrays again", dataset.to_arrays)
    if _raw(one) != _raw(other):
        raise Broken("whole", f"{dataset!r} is read as {one}, then as {other}")
    return one


def _raw(arrays: dict[str, Any] | None) -> dict[str, object]:
    return {
        name: each.tolist() if each.dtype == object else (each.dtype, each.shape, each.tobytes())
        for name, each in (arrays or {}).items()
    }


def _extract(cache: Cache, out: str, damaged: bool, plan: Plan | None) -> None:
    findings = Findings()
    options = {"damaged": damaged, "plan": plan, "findings": findings}
    attempt("extract", extract_cache, cache, out, **options)  # type: ignore[arg-type]
    _shown(findings)


def _is_whole(plan: Plan, built: Built) -> None:
    """Check that a built or repaired cache is complete, and has the right elements.

    The files in blocks that the repair kept are not checked: they may have changed since.
    """
    findings = Findings()
    cache = Cache(built.folder)
    whole = plan.check(cache, findings)
    if len(whole) != len(plan.blocks) or findings.worst is Severity.ERROR or not cache.is_complete:
        raise Broken("whole", f"built, but the findings are {[*map(str, findings)]}")
    for number, rows in enumerate(plan.blocks):
        which = np.arange(rows.start, rows.stop)
        expected = encoded(plan.manifest, which, base=plan.base, access=plan.access)
        there = cache.block(number)
        for record, other in zip(there, expected, strict=True):
            for kind, one, element in zip(plan.manifest.types, record, other, strict=True):
                if element != bytes(one) and (
                    number in built.written or kind is not ElementType.FILE
                ):
                    raise Broken("whole", f"block {number} has {one!r}, not {element!r}")


def _lacks(path: str, sample: str, access: Access) -> bool:
    with File(path, access, _LIMITS) as file:
        return file.find(sample) is None


def _all_datasets(path: str, access: Access) -> int:
    count = 0
    with File(path, access, _LIMITS) as file:
        for name, dataset in file.datasets(file.find(""), ""):
            form = attempt("data_type", file.data_type, dataset, name)
            if form is not None and form.kind == "text":
                attempt("read_strings", file.read_strings, dataset, name)
            count += 1
        for name in file.names(file.find(""), ""):
            found = attempt("find", file.find, name)
            attempt("has", file.has, file.find(""), name, name)
            if is_group(found):
                attempt("order", file.is_ordered, found, name)
    return count


def _list_of(path: str, access: Access) -> None:
    findings = Findings()
    search = list_build.search_for([path], findings, finite=["x"], access=access, limits=_LIMITS)
    samples = list_build.built([path], hdf5_files.run_on_files(search, [path]), findings)
    _shown(findings)
    problems = Findings()
    check(samples, problems, CheckOptions(path, access=access, limits=_LIMITS))
    if not _is_sound(problems):
        raise Broken("whole", f"the new list has the findings {[*map(str, problems)]}")


def _read_samples(
    samples: Any, data: Schema, expected: Schema, access: Access, base: str = ""
) -> None:
    findings = Findings()
    reader = attempt(
        "reader", SampleReader, samples, data, expected,
        base=base, access=access, limits=_LIMITS, findings=findings,
    )  # fmt: skip
    if reader is not None:
        _arrays(reader)
    _shown(findings)


@contextmanager
def _untouched(folder: str, *but: str) -> Iterator[None]:
    """Check that a folder and its neighbours do not change; but: folders that may change."""
    beside = os.path.dirname(folder)
    before = _seen(beside, but)
    yield
    if (after := _seen(beside, but)) != before:
        changed = {name for name, _ in before.items() ^ after.items()}
        raise Broken("outside", f"these files must not change: {sorted(changed)}")


def _seen(folder: str, but: tuple[str, ...]) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if os.path.join(here, each) not in but]
        for name in (*folders, *names):
            path = os.path.join(here, name)
            is_plain = os.path.isfile(path) and not os.path.islink(path)
            found[path] = None
            if is_plain:
                with open(path, "rb") as file:
                    found[path] = file.read()
    return found
