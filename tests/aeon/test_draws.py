"""Random draws and the parameters of pictures, against those of the real aeon."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset import Findings, LoaderConfig
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.crop import Box, Size
from exset.runtime.aeon.provision.draws import Draws, Kept
from tests.aeon.configs import IMAGE, augmented

SEEDS = st.integers(0, 2**32 - 1)
BOTH = ("all", "area", "centre", "hd", "nocrop", "photo", "short")
SEED_ALONE = ("angle", "flip", "light", "pad", "scale")
PICTURES = [
    *((name, version) for name in BOTH for version in ("head", "seed")),
    *((name, "seed") for name in SEED_ALONE),
]


def augmentation(members: dict[str, Any], version: str, compat: bool = True) -> Augmentation:
    given = augmented(members, etl=IMAGE)
    config = LoaderConfig.from_dict(given, dialect=version, findings=Findings())
    return Augmentation.of(config.augmentation[0], compat)


def as_written(drawn: Parameters, number: np.generic | int) -> dict[str, Any]:
    def exact(value: np.float32) -> float:
        return float(f"{value:.9g}")

    return {
        "angle": drawn.angle,
        "flip": int(drawn.flip),
        "hue": drawn.hue,
        "contrast": exact(drawn.contrast),
        "brightness": exact(drawn.brightness),
        "saturation": exact(drawn.saturation),
        "cropbox": list(drawn.crop),
        "output_size": list(drawn.output),
        "lighting": [exact(each) for each in drawn.lighting],
        "padding_offset": list(drawn.padding_offset),
        "engine_after": number,
    }


@pytest.mark.parametrize(("name", "version"), PICTURES)
def test_parameters_are_those_of_aeon(name: str, version: str, corpus: Path) -> None:
    path = corpus / "aeon" / "provision" / "draws" / f"{name}.{version}.json"
    wanted = json.loads(path.read_bytes())
    request = wanted["request"]
    kept = Kept()
    slots = [Draws(seed, kept) for seed in wanted.get("slot_seeds", [1])]
    source, output = Size(*request["in"]), Size(*request["out"])
    for record in wanted["records"]:
        draws = slots[record.get("slot", 0)]
        drawn = augmentation(request["aug"], version).drawn(draws, source, output)
        found = as_written(drawn, draws.state)
        assert found == {**found, **{name: record[name] for name in found if name in record}}


@given(SEEDS, st.floats(-9, 9, width=32), st.floats(0, 9, width=32))
def test_reals_are_in_range(seed: int, low: float, width: float) -> None:
    high = float(np.float32(low + width))
    real = Draws(seed).real(low, high)
    assert real.dtype == np.float32 and low <= real <= high


@given(SEEDS, st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**32 - 1))
def test_integers_are_in_range(seed: int, low: int, width: int) -> None:
    assert low <= Draws(seed).integer(low, low + width) <= low + width


def test_distributions_have_their_moments() -> None:
    draws = Draws(1)
    normal = np.array([draws.normal(3, 2) for _ in range(2000)])
    assert abs(normal.mean() - 3) < 0.2 and abs(normal.std() - 2) < 0.2
    assert 850 < sum(draws.coin(0.45) for _ in range(2000)) < 950


def test_zero_is_another_seed() -> None:
    assert Draws(0).state == Draws(2**31 - 1).state == 1
    assert Draws(5).next() == 5 * 16807


SIZES = st.builds(Size, st.integers(1, 500), st.integers(1, 500))
FRACTIONS = st.tuples(*[st.floats(0.0625, 1, width=32)] * 2).map(sorted)


@given(SEEDS, SIZES, SIZES, FRACTIONS, st.booleans(), st.sampled_from(["head", "seed"]))
def test_crop_boxes_are_inside(
    seed: int, source: Size, wanted: Size, scale: list[float], by_area: bool, version: str
) -> None:
    """Also those of pictures of other sizes in the same record."""
    members = {"type": "image", "scale": scale, "center": False, "do_area_scale": by_area}
    settings = augmentation(members, version, compat=False)
    drawn = settings.drawn(Draws(seed), source, wanted)
    assert drawn.crop.is_inside(source) and drawn.output == wanted
    other = settings.adapted(drawn, Size(source.width + 3, source.height * 2), Size(7, 9))
    assert other.crop.is_inside(other.source) and other.output == (7, 9)
    assert settings.adapted(drawn, source, wanted) == drawn


def test_boxes_keep_their_part_of_a_picture() -> None:
    box = Box(10, 20, 30, 40)
    assert box.scaled(Size(100, 100), Size(50, 200)) == (5, 40, 15, 80)
    assert box.scaled(Size(100, 100), Size(1, 1)).clamped(Size(1, 1)) == (0, 0, 1, 1)
