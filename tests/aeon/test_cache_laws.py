"""The elements of a cache are those of its manifest, also after extraction."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import exset
from exset import Findings, Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_extract import extract_cache
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.elements import encoded
from exset.testing import manifests


@settings(max_examples=40)
@given(manifests(dialect="head"), st.integers(1, 4), st.booleans())
def test_from_manifest_to_cache_and_back(made: Manifest, size: int, is_known: bool) -> None:
    """The elements are the same with the manifest and with only its types."""
    with TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in"), os.path.join(folder, "out")
        os.mkdir(source)
        given = with_files(made, source)
        values = [[*record] for record in encoded(given, base=source)]
        whole = [
            i for i, record in enumerate(values) if all(isinstance(each, bytes) for each in record)
        ]
        expected = [values[i] for i in whole]
        assume(expected and [b""] not in expected)  # not a record of a manifest
        plan = Plan.of(given.select(whole), base=source, block_size=size)
        cache = Cache(build(plan, folder).folder)
        assert [[bytes(each) for each in record] for block in cache for record in block] == expected
        how = {"plan": plan} if is_known else {"types": plan.manifest.types}
        extract_cache(cache, out, **how, findings=Findings(strict=True))
        back = exset.load(f"{out}/manifest.tsv", model=Manifest, findings=Findings())
        assert list(encoded(back, base=out)) == expected


def with_files(made: Manifest, folder: str) -> Manifest:
    """Return the manifest with a file for each FILE field, with the field as its contents."""
    columns = made.columns(ElementType.FILE)
    rows = [list(record) for record in made]
    for number, row in enumerate(rows):
        for column in columns:
            name = f"{number}.{column}"
            Path(folder, name).write_bytes(row[column])
            row[column] = name.encode()
    return Manifest.of(made.types, rows)
