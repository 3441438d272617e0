"""The options of `exset cache` that determine the cache of a manifest, and the cache's plan."""

from typing import TYPE_CHECKING, Any

import click

from exset import api
from exset.cli.inputs import CommonOptions, base_option, roots_option
from exset.cli.manifest import selection_options
from exset.cli.options import Whole, option, options, secondary_option
from exset.cli.output import argument_errors
from exset.core.errors import Findings, with_source_name
from exset.grammars.aeon.manifest_types import Dialect

if TYPE_CHECKING:
    from exset.runtime.aeon.cache import Cache
    from exset.runtime.aeon.cache_plan import Plan

manifest_option = option(
    "--manifest", metavar="FILE", help="Use the manifest from which the cache was built."
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
        help="Set the records in a block (default: as in existing blocks, else 5000).",
    ),
    secondary_option(
        "--dialect",
        metavar="DIALECT",
        type=click.Choice([*map(str, Dialect)]),
        help="Use the given version of aeon: head, seed or csv.",
    ),
    selection_options,
)
"""Add the options of aeon that determine the records of a cache and its blocks."""


def plan_of(
    manifest: str,
    common: CommonOptions,
    planning: dict[str, Any],
    cache: "Cache | None" = None,
    findings: Findings | None = None,
) -> "Plan":
    """Return the plan of the cache of a manifest.

    `planning`: the values of `plan_options`. `cache`: an existing cache, whose block size is the
    default.
    """
    from exset.parsers.aeon.manifest import parse
    from exset.runtime.aeon.cache_plan import Plan
    from exset.runtime.aeon.selection import BLOCK_SIZE

    findings = common.findings if findings is None else findings
    dialect, size = planning.pop("dialect"), planning.pop("block_size")
    source = api.read_source(manifest, limits=common.limits)
    records = parse(source, limits=common.limits, findings=findings, dialect=dialect)
    with argument_errors(), with_source_name(manifest):
        plan = Plan.of(
            records,
            block_size=size or BLOCK_SIZE,
            access=common.access,
            findings=findings,
            **planning,
        )
    return plan.with_blocks_of(cache) if cache is not None and size is None else plan
