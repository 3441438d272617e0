"""Laws of loader configurations: round trips, the JSON Schema, and arbitrary input."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, LoaderConfig
from exset.core.source import Source
from exset.grammars.aeon.config.schema import JSON_SCHEMA, TABLES
from exset.grammars.aeon.config.schema_types import DIALECTS, Dialect
from exset.parsers.aeon.config import parse, render
from exset.testing import config_dicts, loader_configs
from tests.aeon import json_schema
from tests.aeon.configs import findings_of

dialects = st.sampled_from(DIALECTS)
VALIDATOR = jsonschema.Draft202012Validator(json_schema.json_schema())
CLEAN = {"aeon-later", "aeon-order", "aeon-unused", "aeon-dialect", "aeon-rule"}
"""The codes of problems that the JSON Schema does not find."""


def from_dict(given: Any, dialect: Dialect | None = None) -> LoaderConfig:
    """Return a configuration, whatever its findings."""
    return LoaderConfig.from_dict(given, dialect=dialect, findings=Findings())


@given(dialects.flatmap(loader_configs), st.booleans())
def test_written_configurations_read_back_equal(config: LoaderConfig, compact: bool) -> None:
    data = render(config, compact=compact)
    assert parse(Source("a.json", data), dialect=config.dialect) == config
    assert from_dict(config.to_dict(), config.dialect) == config
    assert from_dict(json.loads(data), config.dialect) == config
    assert exset.formats.detect(data, "a.json").name == "loader_config"
    whole = config.settings.to_dict(defaults=True)
    assert from_dict(whole, config.dialect).outputs == config.outputs


@given(dialects.flatmap(loader_configs))
def test_outputs_have_axes_and_order(config: LoaderConfig) -> None:
    for output in config.outputs:
        assert len(output.shape) == len(output.axes) and min(output.shape) >= 0
    if config.dialect == "seed":
        names = [output.name.encode() for output in config.outputs]
        assert names == sorted(set(names))


@given(config_dicts())
def test_the_json_schema_accepts_valid_configurations(config: dict[str, Any]) -> None:
    VALIDATOR.validate(config)
    assert from_dict(config).dialect == "head"


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A configuration with a value replaced, or a member removed or added."""
    config = draw(config_dicts())
    places: list[tuple[Any, Any]] = []

    def look(value: Any) -> None:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in list(pairs):
            if key == "ssd_config":
                continue
            places.append((value, key))
            if isinstance(inner, dict | list):
                look(inner)

    look(config)
    for _ in range(draw(st.integers(1, 2))):
        around, key = draw(st.sampled_from(places))
        how = draw(st.sampled_from(["replace", "remove", "add"]))
        if how == "add" and isinstance(around, dict):
            around[draw(st.sampled_from(["width", "heigth", "scale", "x"]))] = draw(VALUES)
        elif how == "remove" and isinstance(around, dict):
            around.pop(key, None)
        elif isinstance(around, list) or key in around:
            around[key] = draw(VALUES)
    return config


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, "", "image", "audio", "COUNT", 0, -1, 2.5, 2.0, 1e39, 1 << 33, [], {}, [1], [2, 1]]
)


@given(damaged())
def test_the_json_schema_agrees_with_the_reader(config: dict[str, Any]) -> None:
    """Configurations without findings are valid; valid ones fail only rules between members."""
    found = findings_of(config)
    # The rule about COUNT is the only one between members that the JSON Schema has.
    counts = [each for each in found if each.place and each.place.field == "iteration_mode_count"]
    codes = {each.code for each in found}
    assert VALIDATOR.is_valid(config) == (codes <= CLEAN and not counts), codes


def test_the_published_json_schema_is_up_to_date() -> None:
    text = Path(JSON_SCHEMA).read_text()
    assert text == json_schema.text()
    assert json.loads(text) == json_schema.json_schema()
    for dialect in DIALECTS:
        jsonschema.Draft202012Validator.check_schema(json_schema.json_schema(dialect))


@given(dialects.flatmap(config_dicts), st.data())
def test_any_bytes_give_a_configuration_or_an_error_with_a_place(
    config: dict[str, Any], data: st.DataObject
) -> None:
    text = bytearray(json.dumps(config).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=2) | st.sampled_from([b"null", b"{}", b"[]", b"-1", b'"', b"1e99"])
        )
    source = Source("a.json", bytes(text))
    for dialect in (None, *DIALECTS):
        try:
            assert parse(source, dialect=dialect).outputs is not None
        except FormatError as error:
            assert error.place is not None and error.place.line is not None


NAMES = st.sampled_from([*TABLES["loader"].members_of("head"), "type"])
PYTHON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
)


@given(PYTHON)
def test_any_python_value_gives_a_configuration_or_an_error(value: Any) -> None:
    with suppress(FormatError):
        from_dict(value)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_defaults_are_allowed_and_tables_exist(dialect: Dialect) -> None:
    for name, table in TABLES.items():
        for member in table.members_of(dialect).values():
            if member.constraint is not None and isinstance(
                member.default, str | int | float | tuple
            ):
                assert member.constraint.allows(member.default), (name, member.name)
            if member.table is not None:
                assert member.table in (*TABLES, "etl", "augmentation")
