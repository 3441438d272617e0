"""Limits: their values and how they are replaced."""

from dataclasses import FrozenInstanceError, asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.limits import DEFAULT, Limits, limit_hint

NAMES = list(asdict(DEFAULT))


def test_defaults() -> None:
    assert asdict(Limits()) == {
        "max_depth": 32,
        "max_expand": 100_000_000,
        "max_events": 1_048_576,
        "max_name": 1_048_576,
        "max_bytes": 68_719_476_736,
        "max_ratio": 200,
        "max_text": 4_194_304,
        "max_nodes": 262_144,
        "max_objects": 1_048_576,
        "max_array": 67_108_864,
        "max_batch": 4_294_967_296,
    }
    assert Limits() == DEFAULT


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 10**12)))
def test_parse_replaces_only_the_named_limits(values: dict[str, int]) -> None:
    parsed = Limits().with_(**{name: str(value) for name, value in values.items()})
    assert asdict(parsed) == asdict(DEFAULT) | values
    assert parsed == DEFAULT.with_(**values) == Limits(**values)


def test_with_keeps_earlier_changes() -> None:
    limits = Limits(max_name=7).with_(max_depth="64")
    assert (limits.max_name, limits.max_depth) == (7, 64)


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "1e3", "0x10", "9" * 5000])
def test_a_value_must_be_a_whole_number(text: str) -> None:
    with pytest.raises(ValueError, match="max_depth must be a whole number from 0"):
        Limits().with_(max_depth=text)


@pytest.mark.parametrize("value", [-1, True, 1.5, None, "3"])
def test_the_constructor_checks_too(value: object) -> None:
    with pytest.raises(ValueError, match="max_ratio must be a whole number from 0"):
        Limits(max_ratio=value)  # type: ignore[arg-type]


def test_unknown_limit_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'max_dept'") as caught:
        Limits().with_(max_dept="1")
    assert all(name in str(caught.value) for name in NAMES)


def test_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        DEFAULT.max_depth = 1  # type: ignore[misc]


@pytest.mark.parametrize("name", NAMES)
def test_limit_hint_names_the_option(name: str) -> None:
    assert f"--limit {name}=N" in limit_hint(name)
