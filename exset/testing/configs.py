"""Hypothesis strategies for loader configurations of aeon, made from the tables of their schema."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hypothesis import strategies as st

from exset.core.errors import Findings
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.schema import AUGMENTATION, LOADER, TABLES, etl_types
from exset.grammars.aeon.config.schema_types import KINDS, Constraint, Dialect, Kind, Member, Table

Draws = st.SearchStrategy[object]

_NAMES: Final = st.text(st.characters(codec="utf-8"), max_size=6)
_PLAIN: Final[Mapping[Kind, Draws]] = MappingProxyType(
    {
        "string": _NAMES,
        "bool": st.booleans(),
        "int32": st.integers(-(1 << 31), (1 << 31) - 1),
        "uint32": st.integers(0, (1 << 32) - 1),
        "size": st.integers(0, (1 << 64) - 1),
        "float": st.floats(width=32, allow_nan=False, allow_infinity=False),
        "double": st.floats(allow_nan=False, allow_infinity=False),
        "any": st.none() | st.integers() | st.dictionaries(_NAMES, st.booleans(), max_size=2),
    }
)
_SIZE: Final = st.integers(1, 1 << 12)
_DURATION: Final = st.builds(
    "{} {}".format, st.integers(1, 400), st.sampled_from(["milliseconds", "seconds"])
)
_FITTING: Final[Mapping[tuple[str, str], Draws]] = MappingProxyType(
    {
        ("loader", "iteration_mode_count"): st.integers(1, (1 << 31) - 1),
        ("char_map", "alphabet"): st.sampled_from(["", "ABC", "a'_ ", "\u00e9\u00df"]),
        ("char_map", "unknown_value"): st.integers(10, 1000) | st.just(0),
        ("char_map", "output_type"): st.just("uint32_t"),
        ("label_map", "output_type"): st.just("uint32_t"),
        ("audio", "max_duration"): _DURATION,
        ("audio", "frame_length"): _DURATION,
        ("audio", "frame_stride"): _DURATION,
        ("audio", "output_type"): st.just("uint8_t"),
        ("audio", "feature_type"): st.sampled_from(["specgram", "mfsc", "mfcc"]),
        ("audio", "window_type"): st.sampled_from(["hann", "hamming", "none"]),
        ("audio", "sample_freq_hz"): st.integers(8000, 48000),
        ("image", "crop_enable"): st.just(False),
        ("image", "bgr_to_rgb"): st.just(False),
        ("image", "mean"): st.just([]),
        ("image", "stddev"): st.just([]),
        ("image", "emit_constraint_type"): st.sampled_from(["", "center", "min_overlap"]),
        ("batch_sampler", "max_sample"): st.integers(0, 10),
    }
)
"""For some members, values that are valid whatever the other members are, by table and member."""

_ALWAYS: Final = frozenset(
    (
        *(("loader", "iteration_mode_count"), ("loader", "augmentation")),
        *(("image", "crop_enable"), ("batch_sampler", "max_sample")),
    )
)
"""Members that are always drawn, as their defaults may not fit the values of other members."""


@st.composite
def config_dicts(draw: st.DrawFn, dialect: Dialect = "head") -> dict[str, object]:
    """Draw a configuration that aeon's version `dialect` accepts, as a dict."""
    return draw(_object(LOADER, dialect))


@st.composite
def loader_configs(draw: st.DrawFn, dialect: Dialect = "head") -> LoaderConfig:
    """Draw a configuration that aeon's version `dialect` accepts, as a model."""
    return LoaderConfig.from_dict(draw(config_dicts(dialect)), dialect=dialect, findings=Findings())


@st.composite
def _object(draw: st.DrawFn, table: Table, dialect: Dialect) -> dict[str, object]:
    made = {
        name: draw(_member(table, member, dialect))
        for name, member in table.members_of(dialect).items()
        if member.required or (table.name, name) in _ALWAYS or draw(st.integers(0, 3)) == 0
    }
    return dict(draw(st.permutations(list(made.items()))))


def _member(table: Table, member: Member, dialect: Dialect) -> Draws:
    if (table.name, member.name) in _FITTING:
        return _FITTING[table.name, member.name]
    if member.name in ("height", "width"):
        return _SIZE
    if member.table == "etl":
        return st.lists(_etl(dialect), max_size=3)
    inner: Draws
    if member.table == "augmentation":
        inner = _augmentation(dialect)
        return inner if member.kind == "object" else st.lists(inner, max_size=1)
    if member.table is not None:
        inner = _object(TABLES[member.table], dialect)
        return st.lists(inner, max_size=2) if member.kind == "objects" else inner
    if member.kind in ("float_pair", "int_pair"):
        return _pair(member)
    if item := KINDS[member.kind].item:
        return st.lists(_PLAIN[item], max_size=3)
    if member.constraint is None:
        return _PLAIN[member.kind]
    return _constrained(member.kind, member.constraint)


@st.composite
def _etl(draw: st.DrawFn, dialect: Dialect) -> dict[str, object]:
    name = draw(st.sampled_from(etl_types(dialect)))
    return {"type": name, **draw(_object(TABLES[f"etl {name}"], dialect))}


@st.composite
def _augmentation(draw: st.DrawFn, dialect: Dialect) -> dict[str, object]:
    table = AUGMENTATION["image"]
    made = draw(_object(table, dialect))
    made.pop("frame", None)
    return {"type": "image", **made}


def _constrained(kind: Kind, constraint: Constraint) -> Draws:
    if constraint.one_of:
        return st.sampled_from(constraint.one_of)
    if kind == "float":
        return st.floats(constraint.low, constraint.high, width=32)
    return st.integers(None if constraint.low is None else int(constraint.low), 1 << 20)


def _pair(member: Member) -> Draws:
    constraint = member.constraint or Constraint()
    low = constraint.low if constraint.above is None else constraint.above + 0.5
    ends: st.SearchStrategy[float]
    if member.kind == "int_pair":
        ends = st.integers(-180, 180)
    else:
        ends = st.floats(low, constraint.high, width=32, allow_nan=False, allow_infinity=False)
    pairs = st.lists(ends, min_size=2, max_size=2)
    return pairs.map(sorted) if constraint.ordered else pairs
