"""Plan the cache that aeon makes of a manifest, and compare the plan with a cache."""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from exset.core.errors import Finding, Findings, FormatError, Place
from exset.core.text import counted
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.aeon.manifest import Manifest
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_compare import Compared, Comparison, Difference
from exset.runtime.aeon.missing_files import Folder
from exset.runtime.aeon.selection import BLOCK_SIZE, blocks, cache_name, select_records

_OTHER_SIZE: Final = (
    "aeon would miss records or repeat them: name the block size of the cache with"
    " <--block-size N or block_size=N>, or rebuild it"
)
_NO_UID: Final = "an unknown manifest (the folder's name has no checksum)"


@dataclass(frozen=True)
class Plan:
    """The cache that aeon makes of a manifest.

    manifest: the records that aeon uses, in aeon's order. uid: aeon's checksum of these records.
    base: aeon's manifest_root. block_size: aeon's option. blocks: for each block, the range of its
    records; empty blocks are left out. access: its roots are the folders that must contain all
    files.
    """

    manifest: Manifest
    uid: str
    base: str
    block_size: int
    blocks: tuple[range, ...]
    access: Access = DEFAULT_ACCESS

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        *,
        base: str = "",
        block_size: int = BLOCK_SIZE,
        subset_fraction: float = 1.0,
        shuffle_manifest: bool = False,
        random_seed: int = 0,
        access: Access = DEFAULT_ACCESS,
        findings: Findings | None = None,
    ) -> "Plan":
        """Plan the cache of a manifest. The options have aeon's names.

        Raises the ValueError of `select_records` and `blocks`, and FormatError for a manifest
        without records.
        """
        selected, uid = select_records(
            manifest,
            subset_fraction=subset_fraction,
            shuffle_manifest=shuffle_manifest,
            random_seed=random_seed,
        )
        if len(selected) == 0:
            message = "the manifest has no records, so aeon creates no cache"
            raise FormatError(message, code="aeon-no-records")
        ranges = blocks(len(selected), block_size)
        if not ranges[-1] and findings is not None:
            words = {"size": block_size, "records": len(selected)}
            findings.add(finding_at("aeon-cache-empty-block", None, **words))
        return cls(selected, uid, base, block_size, tuple(filter(None, ranges)), access)

    def with_blocks_of(self, cache: Cache) -> "Plan":
        """Return the plan with the block size of a cache, which is the size of its first readable
        block.
        """
        for number in cache.blocks:
            with suppress(FormatError, OSError):
                if size := len(cache.block(number)):
                    rows = range(len(self.manifest))
                    ranges = (rows[begin : begin + size] for begin in rows[::size])
                    return replace(self, block_size=size, blocks=tuple(ranges))
        return self

    @property
    def folder(self) -> str:
        """The name that aeon gives the cache in its cache_directory."""
        return cache_name(self.uid)

    @property
    def key(self) -> list[object]:
        """Values by which this plan differs from other plans with caches of the same checksum."""
        types = [kind.value for kind in self.manifest.types]
        base = os.path.abspath(self.base) if self.base else ""
        return [types, base, len(self.blocks[0]), len(self.manifest)]

    def records(self, number: int) -> Manifest:
        """Return the records of the block with this number; no records if the plan has no such
        block.
        """
        rows = self.blocks[number] if number < len(self.blocks) else range(0)
        return self.manifest.select(slice(rows.start, rows.stop))

    def check(
        self, cache: Cache, findings: Findings, *, compare: Compared = "sizes"
    ) -> dict[int, Block]:
        """Check a cache: add a finding for each difference from this plan, and return the intact
        blocks.

        The result is a dict {number: block} of the blocks that are as planned. compare: which
        properties of FILE elements are compared with the files. Elements whose files cannot be read
        are not compared, and one finding counts them.
        """
        place = Place(cache.path)
        if cache.uid != self.uid:
            findings.add(self.wrong_uid(cache))
        intact = cache.check(findings, len(self.manifest.types))
        if (size := self._other_size(cache, intact)) is not None:
            sizes = {"found": size, "size": self.block_size, "expected": len(self.blocks[0])}
            findings.add(finding_at("aeon-cache-size", place, **sizes))
            return {}
        comparison = Comparison(self.base, self.access, compare)
        for number, block in [*intact.items()]:
            if (found := self.difference(number, block, comparison)) is not None:
                del intact[number]
                words = {"number": number, "size": self.block_size, **found._asdict()}
                findings.add(finding_at("aeon-cache-count", Place(cache.blocks[number]), **words))
        if skipped := comparison.skipped:
            elements = counted(len(skipped), "FILE element")
            base = Folder(os.fsencode(self.base), self.access)
            words = {"elements": elements, "why": skipped[0].message}
            words["hint"] = skipped[0].hint(base) or ""
            findings.add(finding_at("aeon-cache-file", place, **words))
        for number in range(max(cache.blocks, default=-1) + 1, len(self.blocks)):
            findings.add(finding_at("aeon-cache-gap", place, number=number))
        return intact

    def _other_size(self, cache: Cache, intact: dict[int, Block]) -> int | None:
        """Return the cache's own block size if it differs from the plan's, and fits all intact
        blocks.

        Return None in all other cases, and for the cache of another manifest.
        """
        other = self.with_blocks_of(cache)
        if cache.uid != self.uid or other.blocks == self.blocks or not intact:
            return None
        expected = {number: len(rows) for number, rows in enumerate(other.blocks)}
        found = {number: len(block) for number, block in intact.items()}
        return other.block_size if found.items() <= expected.items() else None

    def wrong_uid(self, cache: Cache) -> Finding:
        """Return the finding for a cache of another manifest."""
        words = {
            "found": f"a manifest with the checksum {cache.uid}" if cache.uid else _NO_UID,
            "expected": self.uid,
        }
        return finding_at("aeon-cache-uid", Place(cache.path), **words)

    def difference(self, number: int, block: Block, comparison: Comparison) -> Difference | None:
        """Return how block `number` of a cache differs from the plan's records. Return None if they
        are equal.
        """
        has, part = counted(len(block), "record"), self.records(number)
        if number >= len(self.blocks):
            return Difference(f"it has {has}, and the manifest has no more", _OTHER_SIZE)
        if len(block) != len(part):
            return Difference(f"it has {has}, not {len(part):,}", _OTHER_SIZE)
        return comparison.difference(block, part)
