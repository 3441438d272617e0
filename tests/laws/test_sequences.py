"""The law of models: each is a sequence of its units, by index, by slice and by name."""

from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exset import (
    ExampleSet,
    FormatError,
    LoaderConfig,
    Manifest,
    SampleList,
    Schema,
    Table,
    formats,
)
from exset.families.family import Family, load
from exset.families.format import Format
from exset.grammars.aeon.block import Block
from exset.grammars.columns.sequence import NamedSequence, UnitSequence
from exset.grammars.lbann.list_types import Kind

Sequence: TypeAlias = UnitSequence[object, object]
NAMED = (ExampleSet, SampleList, Manifest, Block, Schema)

WRITTEN: dict[type, NamedSequence[object, object]] = {
    ExampleSet: ExampleSet.from_arrays([[0], [1], [2], [3]], None, names=["cat", "a", "a", None]),
    SampleList: SampleList.of(
        Kind.CONDUIT_HDF5_INCLUSION, "/d", [("a.h5", ["1", "2", "2"]), ("b.h5", ["cat"])]
    ),
    Manifest: Manifest.of(["FILE", "ASCII_INT"], [("cat", 0), ("a", 1), ("a", 2), ("b", 3)]),
    Block: Block.archive([(b"cat", b"x"), (b"a", b"y"), (b"a", b"z")]),
    Schema: Schema.of({"cat": None, "group": {"a": None, "b": None}}),
}


def units(model: Sequence) -> list[object] | None:
    """Return the units, or None if the model does not know them."""
    try:
        return list(iter(model))  # `list(model)` would allocate `len(model)` items
    except FormatError:
        return None


def drawn(fmt: Format) -> st.SearchStrategy[Sequence]:
    return load(str(fmt.strategy))()  # type: ignore[operator, no-any-return]


@pytest.mark.parametrize("fmt", formats.of_files(), ids=lambda fmt: fmt.name)
@settings(max_examples=25)
@given(data=st.data())
def test_every_model_is_a_sequence(fmt: Format, data: st.DataObject) -> None:
    model = data.draw(drawn(fmt))
    if isinstance(model, SampleList) and model.kind.is_single:
        model = model.with_text_ids()  # an integer id is the file's position in its list
    found, count = units(model), len(model)
    if found is None:
        with pytest.raises((FormatError, IndexError)):
            model[0]
        return
    assert len(found) == count and [model[i] for i in range(count)] == found
    assert [model[i] for i in range(-count, 0)] == found
    assert all(unit in model for unit in found)
    for index in (count, -count - 1):
        with pytest.raises(IndexError):
            model[index]
    for wrong in (None, 1.5, [0]):
        with pytest.raises(TypeError):
            model[wrong]  # type: ignore[call-overload]
    bound = st.none() | st.integers(-count - 1, count + 1)
    rows = slice(data.draw(bound), data.draw(bound), data.draw(st.sampled_from([None, 2, -1])))
    some = model[rows]
    assert isinstance(some, tuple | type(model)) and list(some) == found[rows]


@pytest.mark.parametrize("family", formats.families(), ids=[f.name for f in formats.families()])
@settings(max_examples=25)
@given(data=st.data())
def test_units_have_names(family: Family, data: st.DataObject) -> None:
    model = data.draw(drawn(formats.of_family(family)[0]))
    if not isinstance(model, NamedSequence):
        assert isinstance(model, LoaderConfig | Table)
        return
    if units(model) is None:
        with pytest.raises((FormatError, KeyError)):
            model["cat"]
        return
    names = list(model.unit_names())
    assert len(names) == len(model) and all(name in model for name in names)
    for index, name in enumerate(names):
        if names.count(name) == 1:
            assert model[name] == model[name.decode("utf-8", "surrogateescape")] == model[index]
        else:
            with pytest.raises(KeyError):
                model[name]


@pytest.mark.parametrize("kind", NAMED)
def test_unknown_and_ambiguous_names(kind: type) -> None:
    model = WRITTEN[kind]
    names = [name.decode() for name in model.unit_names()]
    known = next(name for name in names if "cat" in name)
    assert known in model and model[known] == model[names.index(known)]
    near = known.replace("cat", "cad")
    assert near not in model
    with pytest.raises(KeyError, match=known):
        model[near]
    for name in {name for name in names if names.count(name) > 1}:
        with pytest.raises(KeyError, match=rf"\[{names.index(name)}\]"):
            model[name]
