"""`exset cache`: build, check, mend and rescue the caches of aeon."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exset import api, formats
from exset.cli.common import BAD, FINE, allowed, lines, roots_option, say, together, wrong
from exset.cli.inputs import (
    Reading,
    common_options,
    file_argument,
    found,
    json_option,
    wants_json,
    write_one,
)
from exset.cli.models import tell
from exset.core.errors import Findings, FormatError, Severity, blaming, safe
from exset.core.text import counted

if TYPE_CHECKING:
    from exset.grammars.aeon.manifest_types import ElementType
    from exset.runtime.aeon.cache import Cache
    from exset.runtime.aeon.cache_build import Built, Plan

Command = TypeVar("Command", bound=Callable[..., object])

_SHOWN = 3
BUILT = ("written", "kept")
"""The blocks that were written and kept, in the JSON of `build` and `repair`."""

CHECKED = ("uid", "complete", "records", "blocks", "whole", "counts", "findings")
"""What `check` says, in its JSON."""


def plan_options(command: Command) -> Command:
    """Add what aeon's configuration says of which records it uses, and in which blocks."""
    for option in (
        click.option("--manifest-root", "root", metavar="FOLDER", default="", help="As aeon's."),
        click.option(
            "--block-size",
            metavar="N",
            type=click.IntRange(min=1),
            help="Records of a block, about: 5000, or as many as the blocks that are there have.",
        ),
        click.option(
            "--subset-fraction",
            metavar="F",
            type=float,
            default=1.0,
            help="As aeon's: the part of the records to use.",
        ),
        click.option("--shuffle-manifest", is_flag=True, help="As aeon's."),
        click.option(
            "--random-seed",
            metavar="N",
            type=click.IntRange(0, 2**32 - 1),
            default=0,
            help="As aeon's.",
        ),
        click.option(
            "--dialect", type=click.Choice(formats.get("manifest").dialects), help="Which aeon."
        ),
    ):
        command = option(command)
    return command


@click.group()
def cache() -> None:
    """Build, check, mend and rescue the caches of aeon.

    A cache is a folder, aeon_cache_ and eight digits, of blocks that hold the elements of all
    records of a manifest. info, validate, convert and cat work on its blocks, block_0.cpio.
    """


@cache.command()
@file_argument("manifest", "MANIFEST")
@click.option("--cache-directory", metavar="FOLDER", help="Say whether the cache is there.")
@plan_options
@json_option(
    *("uid", "folder", "records", "sizes", "exists", "counts", "findings"), manifest="manifest"
)
@common_options
def predict(manifest: str, cache_directory: str | None, reading: Reading, **words: Any) -> None:
    """Say which folder aeon caches a MANIFEST in, and in which blocks.

    \b
      exset cache predict train.tsv --cache-directory caches
    """
    findings = reading.findings()
    plan = _plan(manifest, reading, words, findings)
    there = cache_directory and os.path.join(cache_directory, plan.folder)
    sizes = [len(each) for each in plan.blocks]
    if wants_json():
        row: dict[str, object] = {"manifest": manifest, "uid": plan.uid, "folder": plan.folder}
        exists = os.path.isdir(there) if there else None
        row |= {"records": len(plan.manifest), "sizes": sizes, "exists": exists}
        write_one({**row, **found(findings)})
        return
    tell(findings, _SHOWN, reading.voice)
    click.echo(plan.folder)
    last = f", the last {sizes[-1]:,}" if sizes[-1] != sizes[0] else ""
    count = f"{counted(len(sizes), 'block')} of {sizes[0]:,}{last}"
    click.echo(f"{len(plan.manifest):,} records in {count}")
    if there:
        click.echo(f"{safe(there)}: {'there' if os.path.isdir(there) else 'not there'}")


@cache.command()
@file_argument("manifest", "MANIFEST")
@click.argument("cache_directory")
@roots_option
@plan_options
@json_option("folder", *CHECKED, *BUILT)
@common_options
def build(manifest: str, cache_directory: str, reading: Reading, **words: Any) -> None:
    """Build the cache of a MANIFEST, or go on with one.

    \b
      exset cache build train.tsv caches --manifest-root pictures

    The cache is a folder below CACHE_DIRECTORY. A build that was ended leaves no cache that any
    reader takes for whole; the next one keeps the blocks that are.
    """
    from exset.runtime.aeon import cache_build

    findings = reading.findings()
    plan = _plan(manifest, reading, words, findings)
    tell(findings, _SHOWN, reading.voice)
    with blaming(manifest):
        built = cache_build.build(plan, cache_directory)
    _tell(built, plan, findings, reading)


@cache.command()
@file_argument("folder", "FOLDER")
@click.option("--manifest", metavar="FILE", help="What the cache was built from.")
@plan_options
@json_option(*CHECKED, folder="folder")
@common_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    folder: str,
    manifest: str | None,
    reading: Reading,
    **words: Any,
) -> None:
    """Check a cache: its FOLDER and every block.

    \b
      exset cache check caches/aeon_cache_d25abf7d --manifest train.tsv

    With --manifest it must be of these records, too.
    """
    ctx.exit(_check(folder, manifest, reading, words))


@cache.command()
@file_argument("folder", "FOLDER")
@click.option("--manifest", metavar="FILE", help="What the cache was built from.")
@roots_option
@plan_options
@json_option(*CHECKED, *BUILT, folder="folder")
@common_options
@click.pass_context
def repair(
    ctx: click.Context, /, folder: str, manifest: str | None, reading: Reading, **words: Any
) -> None:
    """Keep the whole blocks of a cache, build the others anew.

    \b
      exset cache repair caches/aeon_cache_d25abf7d --manifest train.tsv

    Without --manifest nothing is changed: the blocks that are broken are named.
    """
    from exset.runtime.aeon import cache_build
    from exset.runtime.aeon.cache import Cache

    if manifest is None:
        ctx.exit(_check(folder, None, reading, words, written=[], kept=[]))
    findings = reading.findings()
    plan = _plan(manifest, reading, words, findings, Cache(folder, reading.limits))
    tell(findings, _SHOWN, reading.voice)
    with blaming(manifest):
        built = cache_build.repair(plan, folder)
    _tell(built, plan, findings, reading)


@cache.command()
@file_argument("source", "SOURCE")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="Where to write the files.")
@click.option("--types", metavar="T,T...", help="Types of elements, FILE,ASCII_INT say.")
@click.option("--manifest", metavar="FILE", help="What the cache was built from: names and types.")
@click.option("--ext", metavar="E,E...", help="Suffixes of the names, one for each element.")
@click.option("--damaged", is_flag=True, help="Take from broken blocks the records that are whole.")
@plan_options
@json_option("files", "records", "counts", "findings", source="source", folder="output")
@common_options
@click.pass_context
def extract(
    ctx: click.Context,
    /,
    source: str,
    output: str,
    types: str | None,
    manifest: str | None,
    ext: str | None,
    damaged: bool,
    reading: Reading,
    **words: Any,
) -> None:
    """Write the elements of a cache, or of one block, as files.

    \b
      exset cache extract aeon_cache_d25abf7d -o images --types FILE,ASCII_INT

    SOURCE is the folder of the cache, or a file. Files are named for their places and contents,
    block_0/0000012.0.jpg; with --types or --manifest there is a manifest of them, manifest.tsv. The
    files of other cpio archives keep their names. Nothing is ever written outside of the folder,
    and no file is written over.
    """
    from exset.codecs.aeon.cpio import decode_archive
    from exset.grammars.aeon.block import Block
    from exset.runtime.aeon import cache_extract
    from exset.runtime.aeon.cache import Cache

    if manifest is None:
        together("--manifest", *words)
    findings = reading.findings()
    suffixes = None if ext is None else [f".{each.strip('. ')}" for each in ext.split(",")]
    if ext is not None and not set(ext).isdisjoint("/\\\0"):
        wrong(f"--ext: suffixes such as jpg,cls are wanted, not {safe(ext)}")
    kinds = None if types is None else _types(types)
    also = ", and no manifest of them: for that, --types says what elements are"
    if os.path.isdir(source):
        there = Cache(source, reading.limits)
        plan = None if manifest is None else _plan(manifest, reading, words, findings, there)
        with blaming(source):
            done = cache_extract.extract_cache(
                there,
                output,
                types=kinds,
                suffixes=suffixes,
                damaged=damaged,
                plan=plan,
                findings=findings,
            )
    else:
        if manifest is not None:
            wrong("--manifest is for the folder of a cache")
        read = api.read_source(source, limits=reading.limits)
        known = api.recognise(read)
        if known.name == "block" and damaged:
            done = cache_extract.extract_damaged(
                read,
                output,
                types=kinds,
                suffixes=suffixes,
                limits=reading.limits,
                findings=findings,
            )
        elif known.name == "block":
            block = known.read(read, limits=reading.limits, findings=findings)
            assert isinstance(block, Block)
            with blaming(source):
                done = cache_extract.extract_block(block, output, types=kinds, suffixes=suffixes)
        elif known.name == "cpio":
            also = ""
            archive = decode_archive(read, limits=reading.limits, findings=findings)
            done = cache_extract.extract_archive(archive, output, name=read.name, findings=findings)
        else:
            wrong(f"{safe(source)} is no block and no archive, but: {known.title}")
    if wants_json():
        row = {"source": source, "folder": output, "files": done.files, "records": done.records}
        bad = findings.worst is Severity.ERROR
        write_one({**row, **found(findings)}, ok=not bad)
        ctx.exit(BAD if bad else FINE)
    if done.records is not None:
        also = f", {done.records:,} records in manifest.tsv"
    tell(findings, _SHOWN, reading.voice)
    if reading.voice >= 0:
        say(f"{safe(source)} -> {safe(output)}: {counted(done.files, 'file')}{also}")
    ctx.exit(BAD if findings.worst is Severity.ERROR else FINE)


def _plan(
    manifest: str,
    reading: Reading,
    words: dict[str, Any],
    findings: Findings,
    cache: Cache | None = None,
) -> Plan:
    """Return the plan for a manifest, with the blocks of a cache; what aeon trips over is added."""
    from exset.parsers.aeon.manifest import parse
    from exset.runtime.aeon.cache_build import Plan
    from exset.runtime.aeon.selection import BLOCK_SIZE

    dialect = words.pop("dialect")
    size = words.pop("block_size")
    access = allowed(words.pop("roots", ()), reading.untrusted)
    source = api.read_source(manifest, limits=reading.limits)
    given = parse(source, limits=reading.limits, findings=findings, dialect=dialect)
    try:
        with blaming(manifest):
            plan = Plan.of(
                given, block_size=size or BLOCK_SIZE, access=access, findings=findings, **words
            )
    except FormatError:
        raise
    except ValueError as error:
        wrong(str(error))
    return plan.fitted(cache) if cache is not None and size is None else plan


def _types(given: str) -> list[ElementType]:
    from exset.grammars.aeon.manifest_types import ElementType

    try:
        return [ElementType(each.strip()) for each in given.split(",")]
    except ValueError as error:
        wrong(f"--types: {safe(str(error))}")


def _check(
    folder: str,
    manifest: str | None,
    reading: Reading,
    words: dict[str, Any],
    **more: list[int],
) -> int:
    """Check a cache and say what was found; more: what goes into its JSON as it is."""
    from exset.runtime.aeon.cache import Cache

    findings = Findings()
    if manifest is None:
        together("--manifest", *words)
    there = Cache(folder, reading.limits)
    if manifest is None:
        whole = there.check(findings)
    else:
        whole = _plan(manifest, reading, words, findings, there).check(there, findings)
    records = sum(len(block) for block in whole.values())
    worst = findings.worst
    bad = worst is Severity.ERROR or (reading.strict and worst is Severity.WARNING)
    if wants_json():
        row: dict[str, object] = {"folder": folder, "uid": there.uid}
        row |= {"complete": there.is_complete, "records": records, "blocks": len(there)}
        write_one({**row, "whole": sorted(whole), **more, **found(findings)}, ok=not bad)
    else:
        for line in lines(findings, findings.keep):
            click.echo(line)
        verdict = "not valid" if bad else "ok"
        if reading.voice >= 0 or worst is not None:
            parts = f"{len(whole):,} of {len(there):,} blocks whole, {records:,} records"
            click.echo(f"{safe(folder)}: {verdict}, {parts}")
    return BAD if bad else FINE


def _tell(built: Built, plan: Plan, findings: Findings, reading: Reading) -> None:
    """Say what was built."""
    written, kept = len(built.written), len(built.kept)
    if wants_json():
        row: dict[str, object] = {"folder": built.folder, "uid": plan.uid, "complete": True}
        row |= {"records": len(plan.manifest), "blocks": len(plan.blocks)}
        row["whole"] = sorted((*built.written, *built.kept))
        row |= {"written": [*built.written], "kept": [*built.kept], **found(findings)}
        write_one(row)
        return
    also = f", {kept:,} kept" if kept else ""
    if reading.voice >= 0:
        say(f"{safe(built.folder)}: {counted(written, 'block')} written{also}")
