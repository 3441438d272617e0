"""`exset cache`: predict, build, check, repair and extract aeon's caches."""

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from exset.cli.cache_extract import extract
from exset.cli.cache_plans import (
    contents_option,
    file_options,
    manifest_option,
    plan_of,
    plan_options,
)
from exset.cli.commands import Group
from exset.cli.inputs import CommonOptions, common_options
from exset.cli.options import option
from exset.cli.output import require_option
from exset.cli.paths import file_argument
from exset.cli.reports import Report, json_option, json_rows, show_findings, verdict
from exset.core.errors import Findings, with_source_name
from exset.core.text import counted, safe
from exset.io.access import is_folder

if TYPE_CHECKING:
    from exset.runtime.aeon.cache_build import Built
    from exset.runtime.aeon.cache_compare import Compared
    from exset.runtime.aeon.cache_plan import Plan

CHECK_KEYS = ("uid", "complete", "records", "blocks", "intact", "counts", "findings")
BUILD_KEYS = ("written", "kept")
"""The JSON members of `check`, and the additional members of `build` and `repair`."""


@click.group(cls=Group)
def cache() -> None:
    """Build, check, repair and extract aeon caches.

    A cache is a folder of blocks, such as aeon_cache_85fbaf7e. The blocks contain the elements of
    all records of a manifest. Use exset info, validate, convert and cat for a single block, such as
    block_0.cpio.
    """


cache.add_command(extract)


@cache.command()
@file_argument("manifest", "MANIFEST")
@option(
    "--cache-directory", metavar="FOLDER", help="Report whether the cache exists in this folder."
)
@plan_options
@json_option(
    *("uid", "folder", "records", "sizes", "exists", "counts", "findings"), manifest="manifest"
)
@common_options
def predict(
    manifest: str, cache_directory: str | None, common: CommonOptions, **planning: Any
) -> Report:
    """Report the folder and the blocks of the cache that aeon makes for a MANIFEST.

    \b
      exset cache predict train.tsv --cache-directory caches
    """
    plan = plan_of(manifest, common, planning)
    sizes = [len(block) for block in plan.blocks]
    last = f"; the last block has {sizes[-1]:,}" if sizes[-1] != sizes[0] else ""
    blocks = f"{counted(len(sizes), 'block')} of {counted(sizes[0], 'record')}{last}"
    lines = [plan.folder, f"{counted(len(plan.manifest), 'record')} in {blocks}"]
    exists = None
    if cache_directory is not None:
        folder = os.path.join(cache_directory, plan.folder)
        exists = is_folder(folder)
        lines.append(f"{safe(folder)}: {'exists' if exists else 'does not exist'}")
    row = {"uid": plan.uid, "folder": plan.folder, "records": len(plan.manifest)}
    return Report({**row, "sizes": sizes, "exists": exists}, common.findings, lines)


@cache.command()
@file_argument("manifest", "MANIFEST")
@click.argument("cache_directory")
@file_options
@plan_options
@json_option("folder", *CHECK_KEYS, *BUILD_KEYS)
@common_options
def build(manifest: str, cache_directory: str, common: CommonOptions, **planning: Any) -> Report:
    """Build the cache of a MANIFEST, or resume its build.

    \b
      exset cache build train.tsv caches --base pictures
      exset cache build pictures/ caches
      exset cache build train.npz caches

    A MANIFEST may also be a file or folder that exset can convert to a manifest, such as a folder
    with one subfolder for each class. The cache is a new folder in CACHE_DIRECTORY. If a build is
    interrupted, aeon and exset treat the cache as incomplete; the next build keeps its complete
    blocks.
    """
    from exset.runtime.aeon import cache_build

    plan = plan_of(manifest, common, planning)
    build = partial(cache_build.build, plan, cache_directory)
    return _built(build, plan, manifest, common)


@cache.command()
@file_argument("folder", "FOLDER")
@manifest_option
@contents_option
@file_options
@plan_options
@json_option(*CHECK_KEYS, folder="folder")
@common_options
def check(folder: str, manifest: str | None, common: CommonOptions, **planning: Any) -> Report:
    """Check the cache in FOLDER: the folder itself and every block.

    \b
      exset cache check caches/aeon_cache_d25abf7d --manifest train.tsv

    With --manifest, exset also compares the cache with the records of the manifest. For FILE
    elements, it compares their sizes with those of the files that the manifest names. With
    --contents, it compares every byte.
    """
    return _check(folder, manifest, common, planning)


@cache.command()
@file_argument("folder", "FOLDER")
@manifest_option
@contents_option
@file_options
@plan_options
@json_option(*CHECK_KEYS, *BUILD_KEYS, folder="folder")
@common_options
def repair(folder: str, manifest: str | None, common: CommonOptions, **planning: Any) -> Report:
    """Rebuild the damaged blocks of a cache.

    \b
      exset cache repair caches/aeon_cache_d25abf7d --manifest train.tsv

    Without --manifest, exset only reports the damaged blocks.
    """
    from exset.runtime.aeon import cache_build
    from exset.runtime.aeon.cache import Cache

    if manifest is None:
        report = _check(folder, None, common, planning)
        report.values = {**report.values, "written": [], "kept": []}
        return report
    compared = _compared(planning)
    cache = Cache(folder, common.limits, common.access.roots)
    plan = plan_of(manifest, common, planning, cache)
    repair = partial(cache_build.repair, plan, folder, compare=compared)
    return _built(repair, plan, manifest, common)


def _check(
    folder: str, manifest: str | None, common: CommonOptions, planning: dict[str, Any]
) -> Report:
    from exset.runtime.aeon.cache import Cache

    findings = Findings()
    if manifest is None:
        require_option("--manifest", *planning, "roots")
    cache = Cache(folder, common.limits, common.access.roots)
    if manifest is None:
        intact = cache.check(findings)
    else:
        compared = _compared(planning)
        plan = plan_of(manifest, common, planning, cache, findings)
        intact = plan.check(cache, findings, compare=compared)
    records = sum(len(block) for block in intact.values())
    row: dict[str, object] = {"uid": cache.uid, "complete": cache.is_complete, "records": records}
    row |= {"blocks": len(cache), "intact": sorted(intact)}
    summary = (
        f"{len(intact):,} of {counted(len(cache), 'block')} intact, {counted(records, 'record')}"
    )
    failed = common.is_failure(findings)
    lines = verdict(folder, findings, failed, summary, common.verbosity < 0)
    return Report(row, findings, lines, shown=0, failed=failed)


def _compared(planning: dict[str, Any]) -> "Compared":
    """Remove `--contents` from the options; return whether to compare contents or only sizes."""
    return "contents" if planning.pop("contents") else "sizes"


def _built(
    build: "Callable[[], Built]", plan: "Plan", manifest: str, common: CommonOptions
) -> Report:
    """Show the findings about a plan, then call `build`, and report the blocks of the cache."""
    if json_rows() is None:
        show_findings(common.findings, common.verbosity)
    with with_source_name(manifest):
        built = build()
    written, kept = list(built.written), list(built.kept)
    row: dict[str, object] = {"folder": built.folder, "uid": plan.uid, "complete": True}
    row |= {"records": len(plan.manifest), "blocks": len(plan.blocks)}
    row |= {"intact": sorted(written + kept), "written": written, "kept": kept}
    also = f", {len(kept):,} kept" if kept else ""
    status = [f"{safe(built.folder)}: {counted(len(written), 'block')} written{also}"]
    return Report(row, common.findings, status=status, shown=0)
