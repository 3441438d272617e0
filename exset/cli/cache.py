"""`exset cache`: predict, build, check, repair and extract aeon's caches."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exset import api
from exset.cli.commands import Group, option, secondary_option
from exset.cli.inputs import CommonOptions, Whole, common_options, roots_option
from exset.cli.manifest import selection_options
from exset.cli.output import require_option, usage_error
from exset.cli.paths import file_argument
from exset.cli.reports import Report, json_option, json_rows, show_findings, verdict
from exset.core.errors import Findings, FormatError, Severity, with_source_name
from exset.core.text import counted, safe
from exset.grammars.aeon.manifest_types import Dialect
from exset.io.access import is_folder

if TYPE_CHECKING:
    from exset.grammars.aeon.manifest_types import ElementType
    from exset.runtime.aeon.cache import Cache
    from exset.runtime.aeon.cache_build import Built
    from exset.runtime.aeon.cache_extract import Extracted
    from exset.runtime.aeon.cache_plan import Plan

Command = TypeVar("Command", bound=Callable[..., object])

CHECK_KEYS = ("uid", "complete", "records", "blocks", "intact", "counts", "findings")
BUILD_KEYS = ("written", "kept")
"""Members of the JSON of `check`, and in addition those of `build` and `repair`."""

manifest_option = option("--manifest", metavar="FILE", help="The manifest of the cache.")


def plan_options(command: Command) -> Command:
    """Add the options of aeon that determine the records of a cache and its blocks."""
    root = option(
        "--manifest-root", "root", metavar="FOLDER", default="", help="Folder of relative paths."
    )
    size = option(
        "--block-size",
        type=Whole(1),
        help="Records in a block (default: as in existing blocks, else 5000).",
    )
    dialect = secondary_option(
        "--dialect",
        metavar="DIALECT",
        type=click.Choice([*map(str, Dialect)]),
        help="The version of aeon: head, seed or csv.",
    )
    return root(size(dialect(selection_options(command))))


@click.group(cls=Group)
def cache() -> None:
    """Build, check, repair and extract aeon caches.

    A cache is a folder of blocks, such as aeon_cache_85fbaf7e. The blocks contain the elements
    of all records of a manifest. exset info, validate, convert and cat open a block, block_0.cpio.
    """


@cache.command()
@file_argument("manifest", "MANIFEST")
@option("--cache-directory", metavar="FOLDER", help="Report whether the cache exists here.")
@plan_options
@json_option(
    *("uid", "folder", "records", "sizes", "exists", "counts", "findings"), manifest="manifest"
)
@common_options
def predict(
    manifest: str, cache_directory: str | None, common: CommonOptions, **options: Any
) -> Report:
    """Report the folder and the blocks in which aeon caches a MANIFEST.

    \b
      exset cache predict train.tsv --cache-directory caches
    """
    plan = _plan(manifest, common, options)
    sizes = [len(block) for block in plan.blocks]
    last = f", the last {sizes[-1]:,}" if sizes[-1] != sizes[0] else ""
    blocks = f"{counted(len(sizes), 'block')} of {sizes[0]:,}{last}"
    lines = [plan.folder, f"{len(plan.manifest):,} records in {blocks}"]
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
@plan_options
@roots_option
@json_option("folder", *CHECK_KEYS, *BUILD_KEYS)
@common_options
def build(manifest: str, cache_directory: str, common: CommonOptions, **options: Any) -> Report:
    """Build the cache of a MANIFEST, or resume its build.

    \b
      exset cache build train.tsv caches --manifest-root pictures

    The cache is a folder below CACHE_DIRECTORY. After an interrupted build, aeon and exset treat
    the cache as incomplete; the next build keeps its complete blocks.
    """
    from exset.runtime.aeon import cache_build

    plan = _plan(manifest, common, options)
    build = partial(cache_build.build, plan, cache_directory)
    return _built(build, plan, manifest, common)


@cache.command()
@file_argument("folder", "FOLDER")
@manifest_option
@plan_options
@json_option(*CHECK_KEYS, folder="folder")
@common_options
def check(folder: str, manifest: str | None, common: CommonOptions, **options: Any) -> Report:
    """Check a cache: its FOLDER and every block.

    \b
      exset cache check caches/aeon_cache_d25abf7d --manifest train.tsv

    With --manifest, exset also compares the cache with the records.
    """
    return _check(folder, manifest, common, options)


@cache.command()
@file_argument("folder", "FOLDER")
@manifest_option
@plan_options
@roots_option
@json_option(*CHECK_KEYS, *BUILD_KEYS, folder="folder")
@common_options
def repair(folder: str, manifest: str | None, common: CommonOptions, **options: Any) -> Report:
    """Rebuild the damaged blocks of a cache.

    \b
      exset cache repair caches/aeon_cache_d25abf7d --manifest train.tsv

    Without --manifest, exset only reports the damaged blocks.
    """
    from exset.runtime.aeon import cache_build
    from exset.runtime.aeon.cache import Cache

    if manifest is None:
        report = _check(folder, None, common, options)
        report.values = {**report.values, "written": [], "kept": []}
        return report
    plan = _plan(manifest, common, options, Cache(folder, common.limits))
    repair = partial(cache_build.repair, plan, folder)
    return _built(repair, plan, manifest, common)


@cache.command()
@file_argument("source", "SOURCE")
@option("-o", "--output", metavar="FOLDER", required=True, help="Write the files to this folder.")
@option("--types", metavar="T,T...", help="Types of the elements: FILE,ASCII_INT")
@manifest_option
@option("--ext", metavar="E,E...", help="Suffixes of the files of a record: jpg,cls")
@option("--damaged", is_flag=True, help="Extract the complete records of damaged blocks.")
@plan_options
@json_option("files", "records", "counts", "findings", source="source", folder="output")
@common_options
def extract(
    source: str,
    output: str,
    types: str | None,
    manifest: str | None,
    ext: str | None,
    damaged: bool,
    common: CommonOptions,
    **options: Any,
) -> Report:
    """Extract the elements of a cache, or of one block, as files.

    \b
      exset cache extract aeon_cache_d25abf7d -o images --types FILE,ASCII_INT

    SOURCE is the folder of a cache, or one file. The names of the files come from position and
    content: block_0/0000012.0.jpg. With --types or --manifest, exset also writes manifest.tsv.
    Files of other cpio archives keep their names. exset writes only inside the folder, and
    overwrites nothing.
    """
    from exset.runtime.aeon import cache_extract
    from exset.runtime.aeon.cache import Cache

    if manifest is None:
        require_option("--manifest", *options)
    if ext is not None and not set(ext).isdisjoint("/\\\0"):
        usage_error(f"--ext must be suffixes such as jpg,cls, not {safe(ext)}")
    settings: dict[str, Any] = {
        "types": None if types is None else _types(types),
        "suffixes": None if ext is None else [f".{each.strip('. ')}" for each in ext.split(",")],
    }
    fmt = "block"
    if is_folder(source):
        cache = Cache(source, common.limits)
        plan = None if manifest is None else _plan(manifest, common, options, cache)
        settings |= {"plan": plan, "damaged": damaged, "findings": common.findings}
        with with_source_name(source):
            done = cache_extract.extract_cache(cache, output, **settings)
    elif manifest is not None:
        usage_error("--manifest needs the folder of a cache")
    else:
        done, fmt = _extract_file(source, output, damaged, common, settings)
    written = counted(done.files, "file")
    if done.records is not None:
        written += f", {done.records:,} records in manifest.tsv"
    elif fmt == "block":
        written += ", no manifest.tsv (it needs --types)"
    return Report(
        {"files": done.files, "records": done.records},
        common.findings,
        status=[f"{safe(source)} -> {safe(output)}: {written}"],
        failed=common.findings.worst is Severity.ERROR,
    )


def _extract_file(
    path: str, output: str, damaged: bool, common: CommonOptions, settings: dict[str, Any]
) -> tuple[Extracted, str]:
    """Extract a block, or an archive of another program; return the name of the format, too."""
    from exset.codecs.aeon.cpio import decode, decode_archive
    from exset.runtime.aeon import cache_extract

    source = api.read_source(path, limits=common.limits)
    fmt = api.recognise(source)
    checks: dict[str, Any] = {"limits": common.limits, "findings": common.findings}
    if fmt.name == "cpio":
        archive = decode_archive(source, **checks)
        done = cache_extract.extract_archive(
            archive, output, name=source.name, findings=common.findings
        )
        return done, fmt.name
    if fmt.name != "block":
        usage_error(f"{safe(path)} is neither a block nor an archive: {fmt.title}")
    if damaged:
        done = cache_extract.extract_block(source, output, **settings, **checks)
        return done, fmt.name
    block = decode(source, **checks)
    with with_source_name(path):
        return cache_extract.extract_block(block, output, **settings), fmt.name


def _plan(
    manifest: str,
    common: CommonOptions,
    options: dict[str, Any],
    cache: Cache | None = None,
    findings: Findings | None = None,
) -> Plan:
    """Return the plan of the cache of a manifest, with the blocks of `cache` if they exist."""
    from exset.parsers.aeon.manifest import parse
    from exset.runtime.aeon.cache_plan import Plan
    from exset.runtime.aeon.selection import BLOCK_SIZE

    findings = common.findings if findings is None else findings
    dialect = options.pop("dialect")
    size = options.pop("block_size")
    options |= {"block_size": size or BLOCK_SIZE, "access": common.access}
    source = api.read_source(manifest, limits=common.limits)
    records = parse(source, limits=common.limits, findings=findings, dialect=dialect)
    try:
        with with_source_name(manifest):
            plan = Plan.of(records, findings=findings, **options)
    except FormatError:
        raise
    except ValueError as error:
        usage_error(str(error))
    return plan.with_blocks_of(cache) if cache is not None and size is None else plan


def _types(names: str) -> list[ElementType]:
    from exset.grammars.aeon.manifest_types import ElementType

    try:
        return [ElementType(name.strip()) for name in names.split(",")]
    except ValueError as error:
        usage_error(f"--types: {safe(str(error))}")


def _check(
    folder: str, manifest: str | None, common: CommonOptions, options: dict[str, Any]
) -> Report:
    """Check a cache."""
    from exset.runtime.aeon.cache import Cache

    findings = Findings()
    if manifest is None:
        require_option("--manifest", *options)
    cache = Cache(folder, common.limits)
    if manifest is None:
        intact = cache.check(findings)
    else:
        intact = _plan(manifest, common, options, cache, findings).check(cache, findings)
    records = sum(len(block) for block in intact.values())
    row: dict[str, object] = {"uid": cache.uid, "complete": cache.is_complete, "records": records}
    row |= {"blocks": len(cache), "intact": sorted(intact)}
    summary = f"{len(intact):,} of {len(cache):,} blocks intact, {records:,} records"
    failed = common.is_failure(findings)
    lines = verdict(folder, findings, failed, summary, common.verbosity < 0)
    return Report(row, findings, lines, shown=0, failed=failed)


def _built(build: Callable[[], Built], plan: Plan, manifest: str, common: CommonOptions) -> Report:
    """Show the findings of a plan, build the cache, and report the blocks."""
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
