"""Caches that aeon has written, built again from their manifests."""

import json
from pathlib import Path

import pytest

import exset
from exset.core.errors import Findings, FormatError
from exset.grammars.aeon.manifest import Manifest
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_plan import Plan
from tests.aeon.cpio_files import TIME


def test_every_cache_of_aeon_is_built_the_same(corpus: Path, tmp_path: Path) -> None:
    """exset writes each block that is not shifted byte for byte, with aeon's times."""
    folder = corpus / "aeon/cpio"
    for about in sorted(folder.glob("*.json")):
        run = json.loads(about.read_text())
        options = run["options"]
        made = exset.loads(
            run["manifest"], model=Manifest, format="manifest", dialect=run["version"]
        )
        plan = Plan.of(
            made,
            base=str(folder / "data") if "--root" in options else "",
            block_size=int(value_of(options, "--block-size", "5000")),
            subset_fraction=float(value_of(options, "--subset", "1")),
            shuffle_manifest="--shuffle" in options,
            random_seed=int(value_of(options, "--seed", "0")),
        )
        theirs = about.with_suffix("")
        target = tmp_path / about.stem
        target.mkdir()
        if about.name.startswith("c07"):
            with pytest.raises(FormatError, match="missing"):
                build(plan, str(target))
            continue
        done = Path(build(plan, str(target), clock=lambda: TIME).folder)
        expected = theirs / done.name
        for path in expected.glob("*.cpio"):
            assert (done / path.name).read_bytes() == path.read_bytes(), path
        assert len(Cache(str(done))) == len(Cache(str(expected)))
        findings = Findings()
        assert len(plan.check(Cache(str(expected)), findings)) == len(plan.blocks)
        incomplete = about.name == "c08_empty_last_block.head.json"
        assert bool(findings.count("aeon-cache-incomplete")) is incomplete


def value_of(options: list[str], name: str, default: str) -> str:
    return options[options.index(name) + 1] if name in options else default
