"""`exset cache extract`: extract the elements of a cache, or of one block, as files."""

from typing import TYPE_CHECKING, Any

import click

from exset import api
from exset.cli.cache_plans import manifest_option, plan_of, plan_options
from exset.cli.commands import Command
from exset.cli.inputs import CommonOptions, common_options
from exset.cli.options import option
from exset.cli.output import argument_errors, data_error, require_option, usage_error
from exset.cli.paths import file_argument
from exset.cli.reports import Report, json_option
from exset.core.errors import Severity, with_source_name
from exset.core.text import counted, safe
from exset.io.access import is_folder

if TYPE_CHECKING:
    from exset.grammars.aeon.manifest_types import ElementType
    from exset.runtime.aeon.cache_extract import Extracted


@click.command(cls=Command)
@file_argument("source", "SOURCE")
@option("-o", "--output", metavar="FOLDER", required=True, help="Write the files to this folder.")
@option(
    "--types",
    metavar="T,T...",
    help="Give the types of the elements of a record, in order, such as FILE,ASCII_INT.",
)
@manifest_option
@option(
    "--ext",
    metavar="E,E...",
    help="Give the files of a record's elements these suffixes, in order, such as jpg,cls.",
)
@option("--damaged", is_flag=True, help="Also extract the intact records of damaged blocks.")
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
    **planning: Any,
) -> Report:
    """Extract the elements of a cache, or of one block, as files.

    \b
      exset cache extract aeon_cache_d25abf7d -o images --types FILE,ASCII_INT

    SOURCE is the folder of a cache, a block, or a cpio archive of another program. exset names a
    file after the position and the kind of its content, such as block_0/0000012.0.jpg; but the
    files of a cpio archive keep their names. With --types or --manifest, exset also writes
    manifest.tsv. exset writes only inside the output folder, and overwrites nothing.
    """
    from exset.runtime.aeon import cache_extract
    from exset.runtime.aeon.cache import Cache

    if manifest is None:
        require_option("--manifest", *planning)
    if ext is not None and not set(ext).isdisjoint("/\\\0"):
        usage_error(f"--ext must be suffixes such as jpg,cls, not {safe(ext)}")
    settings: dict[str, Any] = {
        "types": None if types is None else _types(types),
        "suffixes": None if ext is None else [f".{each.strip('. ')}" for each in ext.split(",")],
    }
    fmt = "block"
    if is_folder(source):
        cache = Cache(source, common.limits, common.access.roots)
        plan = None if manifest is None else plan_of(manifest, common, planning, cache)
        settings |= {"plan": plan, "damaged": damaged, "findings": common.findings}
        with with_source_name(source):
            done = cache_extract.extract_cache(cache, output, **settings)
    elif manifest is not None:
        usage_error("--manifest needs the folder of a cache")
    else:
        done, fmt = _extract_file(source, output, damaged, common, settings)
    written = counted(done.files, "file")
    if done.records is not None:
        written += f", {counted(done.records, 'record')} in manifest.tsv"
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
) -> "tuple[Extracted, str]":
    """Extract a block, or a cpio archive of another program; return the result and the format."""
    from exset.codecs.aeon.cpio import decode, decode_archive
    from exset.runtime.aeon import cache_extract

    source = api.read_source(path, limits=common.limits)
    fmt = api.recognise(source)
    with with_source_name(path):
        if fmt.name == "cpio":
            archive, findings = decode_archive(source, **common.reading), common.findings
            done = cache_extract.extract_archive(
                archive, output, name=source.name, findings=findings
            )
        elif fmt.name != "block":
            data_error(f"{safe(path)} is neither a block nor an archive: {fmt.title}")
        elif damaged:
            done = cache_extract.extract_block(source, output, **settings, **common.reading)
        else:
            done = cache_extract.extract_block(decode(source, **common.reading), output, **settings)
    return done, fmt.name


def _types(names: str) -> "list[ElementType]":
    from exset.grammars.aeon.manifest_types import ElementType

    with argument_errors(prefix="--types: "):
        return [ElementType(name.strip()) for name in names.split(",")]
