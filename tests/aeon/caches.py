"""Caches for tests: their manifests and records, and what a reader sees."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from exset.core.errors import Findings, FormatError
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest import Manifest
from exset.io.access import Access
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_compare import Comparison
from exset.runtime.aeon.cache_plan import Plan


def manifest(count: int = 10) -> Manifest:
    return Manifest.of(["STRING", "ASCII_INT"], [(f"name{i}", i) for i in range(count)])


def records(count: int = 10) -> list[list[bytes]]:
    return [[b"name%d" % i, i.to_bytes(4, "little")] for i in range(count)]


def seen(path: str) -> list[list[bytes]]:
    return [[bytes(each) for each in record] for block in Cache(path) for record in block]


@contextmanager
def raises(code: str) -> Iterator[pytest.ExceptionInfo[FormatError]]:
    """Expect a FormatError with a code."""
    with pytest.raises(FormatError) as caught:
        yield caught
    assert caught.value.code == code, str(caught.value)


def why(plan: Plan, number: int, block: Block) -> str | None:
    """Return how a block differs from a plan."""
    found = plan.difference(number, block, Comparison("", Access(), "nothing"))
    return found.why if found else None


def codes(cache: Cache, plan: Plan | None = None) -> list[str]:
    findings = Findings()
    if plan is None:
        cache.check(findings)
    else:
        plan.check(cache, findings)
    return [finding.code for finding in findings]
