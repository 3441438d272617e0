"""Open the files of a configuration.

Choose the random draws and the order: aeon's own, or exset's.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from exset.core.errors import Findings, FormatError, warn, with_source_name
from exset.core.limits import Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.aeon.config.model import LoaderConfig
from exset.io.access import Access
from exset.io.files import FilePath
from exset.parsers.aeon.config import parse
from exset.runtime.aeon.provision.etl import Context
from exset.runtime.aeon.provision.order import AeonOrder, Division, KeyedOrder, Order
from exset.runtime.aeon.provision.provider import Provider, Request
from exset.runtime.aeon.provision.records import open_records
from exset.runtime.aeon.provision.registry import register_plugins
from exset.runtime.aeon.provision.streams import DrawSource, Keyed, Sequences, Slots

Compat: TypeAlias = Literal["aeon"] | None
Given: TypeAlias = LoaderConfig | Mapping[str, object] | FilePath
"""A configuration: a model, a dict, JSON, or the path of a JSON file."""

_WORD: Final = 1 << 32
_NO_EFFECT: Final = "aeon-ignored"
"""The code of the finding for an unknown member of an augmentation."""
_MOST_CORES: Final = 4096


@dataclass(frozen=True)
class Options:
    """Arguments of the loader; see `DataLoader`."""

    version: str | None
    compat: Compat
    threads: int | None
    tolerant: bool
    base: str
    access: Access
    limits: Limits
    scaled_decoding: bool = False


@dataclass
class Opened:
    """An open configuration: its records, their order, their random draws and their provider."""

    config: LoaderConfig
    provider: Provider
    order: Order
    draws: DrawSource
    division: Division

    def request(self, row: int, epoch: int) -> Request:
        """Return the request for the record `row` in an epoch, with its random draws."""
        index = self.provider.records.index(row)
        return Request(row, epoch, self.draws.streams(index, epoch))

    def with_seed(self, seed: int) -> "Opened":
        """Return the same configuration with another seed for draws and order."""
        context, records = self.provider.context, len(self.provider.records)
        return _ordered(context, self.provider, records, seed)


def open_loader(given: Given, options: Options, findings: Findings | None) -> Opened:
    """Open the files of a configuration, and build its cache. Raises the errors of `DataLoader`."""
    if options.compat not in (None, "aeon"):
        raise ValueError(f"compat must be 'aeon' or None, not {options.compat!r}")
    if options.compat and options.scaled_decoding:
        raise ValueError("scaled_decoding changes values, so it is not possible with compat='aeon'")
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"threads must be at least 1, not {options.threads}")
    register_plugins()
    found = Findings() if findings is None else findings
    source = _source(given)
    name = "<dict>" if source is None else source.name
    with with_source_name(name, findings=found) as named:
        config = _config(given, source, options, named)
        _check(config, found, options.compat)
        context = Context(
            config,
            options.compat is not None,
            options.base,
            options.access,
            options.limits,
            options.scaled_decoding,
            writes_debug=True,
        )
        seed = _seed(config)
        records = open_records(context, seed, named, tolerant=options.tolerant)
        threads = 1 if context.compat else options.threads or _threads(config)
        provider = Provider(context, records, threads, _cpu_list(config))
        opened = _ordered(context, provider, len(records), seed)
    if findings is None:
        warn(found)
    return opened


def _source(given: Given) -> Source | None:
    """Return the text of a configuration. Return None if `given` is a dict or a model.

    Raises OSError if a file cannot be read.
    """
    if isinstance(given, LoaderConfig | Mapping):
        return None
    text = os.fsencode(given)
    if text.lstrip().startswith(b"{"):
        return Source("<text>", text)
    with open(given, "rb") as file:
        return Source(os.fsdecode(given), file.read())


def _config(
    given: Given, source: Source | None, options: Options, findings: Findings
) -> LoaderConfig:
    """Read a configuration. Raises LimitError, and FormatError for an invalid configuration."""
    limits, version = options.limits, options.version
    if source is not None:
        return parse(source, limits=limits, findings=findings, dialect=version)
    if isinstance(given, LoaderConfig):
        return given if version is None else given.translated(version, findings=findings)
    assert isinstance(given, Mapping)
    return LoaderConfig.from_dict(given, dialect=version, limits=limits, findings=findings)


def _check(config: LoaderConfig, findings: Findings, compat: Compat) -> None:
    """Check members that aeon never checks, or checks only when it loads records.

    Raises FormatError for the first wrong member.
    """
    members = config.settings
    if config.batch_size <= 0:
        message = f"batch_size must be 1 or more, not {config.batch_size}"
        raise FormatError(message, code="aeon-loader")
    if "node_count" in members.members and members.number("node_count") > 1:
        node, count = members.number("node_id"), members.number("node_count")
        if node >= count:
            message = f"node_id is {node}, but must be less than node_count, {count}"
            raise FormatError(message, code="aeon-loader")
    for finding in findings if compat is None else ():
        if finding.code == _NO_EFFECT:
            raise FormatError.of(finding)


def _ordered(context: Context, provider: Provider, records: int, seed: int) -> Opened:
    config = context.config
    division = Division(config, records, seed)
    if not context.compat:
        return Opened(config, provider, KeyedOrder(division), Keyed(seed), division)
    order = AeonOrder(division)
    if context.is_seed:
        if division.shuffles and config["cache_directory"]:
            message = "compat cannot reproduce the order in which aeon shuffles cached blocks"
            hint = "leave out cache_directory, shuffle_enable or compat"
            raise FormatError(message, hint=hint, code="aeon-loader")
        return Opened(config, provider, order, Sequences(), division)
    of_node = (seed + config.settings.number("node_id")) % _WORD
    cores = len(_cpu_list(config)) or 1
    return Opened(config, provider, order, Slots(of_node, config.batch_size, cores), division)


def _seed(config: LoaderConfig) -> int:
    """Return the seed of the draws and of the order, which is usually the configuration's
    random_seed.

    If random_seed is 0, exset chooses a random seed, as aeon's last version does. If the records
    are divided between several nodes, it uses 1 instead. For aeon of April 2017, 0 stays 0.
    """
    seed = config.settings.number("random_seed") % _WORD
    if seed or config.dialect == "seed":
        return seed
    return 1 if config.settings.number("node_count") > 1 else 1 + secrets.randbelow(_WORD - 1)


def _threads(config: LoaderConfig) -> int:
    """Return the number of threads that a configuration asks for, by default one for each core."""
    members = config.settings.members
    if "single_thread" in members and config["single_thread"]:
        return 1
    listed = _cpu_list(config)
    available = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    return len(listed) or cast("int | None", available) or 1


def _cpu_list(config: LoaderConfig) -> list[int]:
    """Return the cores that a configuration lists. Return [] if it lists none.

    Raises FormatError for an invalid list.
    """
    return _cores(str(config["cpu_list"])) if "cpu_list" in config.settings.members else []


def _cores(listed: str) -> list[int]:
    """Return the numbers of the cores in a text such as `0-3,8`.

    Raises FormatError for any other text.
    """
    found: list[int] = []
    for part in filter(None, listed.split(",")):
        first, dash, last = part.partition("-")
        try:
            cores = range(int(first), int(last if dash else first) + 1)
            found += cores[:_MOST_CORES]
        except ValueError:
            hint = "write cores such as 0-3,8"
            message = f"cpu_list has {safe(part)!r}, which is not the number of a core"
            raise FormatError(message, hint=hint, code="aeon-loader") from None
    return found
