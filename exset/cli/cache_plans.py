"""The options of `exset cache` that determine a manifest's cache, and the plan of the cache."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import click

from exset import api, bridge, formats
from exset.cli.inputs import CommonOptions, base_option, roots_option
from exset.cli.manifest import selection_options
from exset.cli.options import Whole, option, options, secondary_option
from exset.cli.output import data_errors
from exset.core.errors import Findings, FormatError, with_source_name
from exset.core.source import Source
from exset.families.option import listed
from exset.grammars.aeon.manifest_types import Dialect

if TYPE_CHECKING:
    from exset.grammars.aeon.manifest import Manifest
    from exset.runtime.aeon.cache import Cache
    from exset.runtime.aeon.cache_plan import Plan

manifest_option = option(
    "--manifest",
    metavar="FILE",
    help="Use this manifest, from which the cache was built.",
)

contents_option = option(
    "--contents", is_flag=True, help="Compare files byte by byte (default: by size)."
)

file_options = options(base_option, roots_option)
"""Add the options of commands that open the files of a manifest."""

plan_options = options(
    option(
        "--block-size",
        type=Whole(1),
        help="Set the number of records in a block (default: as in existing blocks, else 5000).",
    ),
    secondary_option(
        "--dialect",
        metavar="DIALECT",
        type=click.Choice([*map(str, Dialect)]),
        help="Read the manifest as this version of aeon does: head (2020), seed (April 2017), or"
        " csv (older: commas, and no header).",
    ),
    option(
        "--files",
        metavar="NAME,...",
        callback=lambda _, __, text: text and listed(text),
        help="Write these columns of a table as paths of files (type FILE).",
    ),
    selection_options,
)
"""Add the options of aeon that determine the records of a cache and its blocks."""


def _records(
    path: str,
    dialect: str | None,
    paths: list[str] | None,
    common: CommonOptions,
    findings: Findings,
) -> "tuple[Manifest, str]":
    """Read or make a manifest; return the manifest, and the folder of its relative paths.

    `path`: a manifest, or another file, whose table becomes a manifest. A file whose format is
    unknown is read as a manifest. `paths`: the columns of the table that contain paths of files.
    """
    from exset.parsers.aeon.manifest import parse

    source = api.read_input(path, limits=common.limits, roots=common.access.roots)
    fmt = formats.get("manifest")
    with suppress(FormatError):
        fmt = api.recognise(source)
    if isinstance(source, Source) and fmt == formats.get("manifest"):
        return parse(source, limits=common.limits, findings=findings, dialect=dialect), ""
    model = fmt.read(source, limits=common.limits, findings=findings)
    with with_source_name(path, fmt.family.noun, "table", findings=findings) as named:
        table = bridge.to_table(model, findings=named, limits=common.limits)
        how: dict[str, Any] = {"findings": named, "limits": common.limits, "files": paths}
        with data_errors():
            made = bridge.from_table(table, family="aeon", dialect=dialect, **how)
    return cast("Manifest", made), str(table.metadata.get("base") or "")


def plan_of(
    manifest: str,
    common: CommonOptions,
    planning: dict[str, Any],
    cache: "Cache | None" = None,
    findings: Findings | None = None,
) -> "Plan":
    """Return the plan of a manifest's cache: its name and its blocks.

    `manifest`: a manifest, or any file or folder whose table becomes one. `planning`: the values of
    `plan_options`. `cache`: an existing cache, whose block size is the default.
    """
    from exset.runtime.aeon.cache_plan import Plan
    from exset.runtime.aeon.selection import BLOCK_SIZE

    findings = common.findings if findings is None else findings
    dialect, size = planning.pop("dialect"), planning.pop("block_size")
    paths = planning.pop("files")
    records, base = _records(manifest, dialect, paths, common, findings)
    planning["base"] = planning.get("base") or base
    with data_errors(), with_source_name(manifest):
        plan = Plan.of(
            records,
            block_size=size or BLOCK_SIZE,
            access=common.access,
            findings=findings,
            **planning,
        )
    return plan.with_blocks_of(cache) if cache is not None and size is None else plan
