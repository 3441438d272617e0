"""`exset.edit`: units that are filtered, ordered and renamed, in models of all families."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import ExampleSet, Findings, Manifest, SampleList, edit
from exset.core.protocols import Joinable, Named, Selectable
from exset.families.format import Format
from exset.formats import of_files
from exset.grammars.aeon.block import Block
from exset.grammars.tables.table import Table
from exset.testing.lens import example_sets
from tests.good_files import good_file

XOR = exset.load("exset::xor-events.ex", model=ExampleSet, findings=exset.Findings())
SAMPLES = SampleList.of(
    "CONDUIT_HDF5_INCLUSION", "d", [("a.h5", ["x", "y"], 1), ("b.h5", ["x", "z"]), ("c.h5", ["w"])]
)
RECORDS = Manifest.of(
    ["FILE", "ASCII_INT"], [["b.png", 1], ["a.png", 10], ["c.jpg", 1], ["d.jpg", 9]]
)


def names(model: Named) -> list[str]:
    return [name.decode() for name in model.unit_names()]


def test_fields_of_numbers() -> None:
    examples = ExampleSet.from_arrays(np.eye(4), None, names=[*"abcd"], frequency=[1, 2, 0.1, 4])
    for condition, kept in (
        *(("frequency=2", "b"), ("frequency!=2", "acd"), ("frequency>=2", "bd")),
        *(("frequency<1.5", "ac"), ("frequency > 3", "d"), ("frequency<=0.1", "c")),
        *(("frequency=0.1", "c"), ("events=1", "abcd"), ("events>1", "")),
    ):
        assert names(edit.keep(examples, condition)) == list(kept)
        assert sorted([*names(edit.drop(examples, condition)), *kept]) == list("abcd")
    assert names(edit.keep(examples, " name = b ")) == ["b"]
    assert names(edit.keep(examples, frequency=[1, 4])) == ["a", "d"]


def test_fields_of_text() -> None:
    assert names(edit.keep(RECORDS, "name=*.png")) == ["b.png", "a.png"]
    assert names(edit.keep(RECORDS, "name!=*.png", "label=1")) == ["c.jpg"]
    assert names(edit.drop(RECORDS, "name=*.png", "label=1")) == ["d.jpg"]
    assert names(edit.keep(RECORDS, "1=1?")) == names(edit.keep(RECORDS, label=[10])) == ["a.png"]
    assert names(edit.keep(SAMPLES, "file=[ab].h5", "id=x")) == ["a.h5/x", "b.h5/x"]
    block = Block.of([[b"one"], [b"two"]])
    assert len(edit.keep(block, "name=*1.01")) == 1
    accents = ExampleSet.from_arrays(np.eye(2), None, names=["\u00e9", "ab"])
    assert names(edit.keep(accents, "name=?")) == ["\u00e9"]
    assert len(edit.keep(XOR, "name=")) == sum(name is None for name in XOR.name)


def test_ids_of_a_list_are_dropped() -> None:
    left = edit.drop(SAMPLES, id=["x", "w", "nothing"])
    assert names(left) == ["a.h5/y", "b.h5/z"]
    assert left.files[0].excluded == 2 and len(edit.drop(SAMPLES, name=["a.h5/x"])) == 4
    molecules = exset.load("exset::molecules.sample_list", model=SampleList)
    first = next(number for _, number in molecules.pairs())
    assert len(edit.drop(molecules, id=[first])) < len(molecules)
    exclusion = SampleList.of("CONDUIT_HDF5_EXCLUSION", "d", [("a.h5", ["x"], 2), ("b.h5", [], 1)])
    assert len(edit.drop(exclusion, "file=a.h5")) == 1
    with pytest.raises(exset.FormatError, match="lbann-exclusion"):
        edit.drop(exclusion, id=["y"])


def test_order() -> None:
    assert names(edit.sort(RECORDS, "name")) == ["a.png", "b.png", "c.jpg", "d.jpg"]
    assert names(edit.sort(RECORDS, "label")) == ["b.png", "c.jpg", "a.png", "d.jpg"]
    down = edit.sort(RECORDS, "label", descending=True)
    assert names(down) == ["d.jpg", "a.png", "b.png", "c.jpg"]
    examples = ExampleSet.from_arrays(np.eye(4), None, names=[*"abcd"], frequency=[2, 1, 2, 3])
    assert names(edit.sort(examples, "frequency")) == list("bacd")
    assert names(edit.sort(examples, "frequency", descending=True)) == list("dacb")
    shuffled = edit.shuffle(RECORDS, seed=2)
    assert shuffled == edit.shuffle(RECORDS, seed=2)
    assert sorted(shuffled) == sorted(RECORDS) and shuffled != RECORDS
    files = {edit.shuffle(SAMPLES, seed=seed).files[0].name for seed in range(9)}
    assert files == {"a.h5", "b.h5", "c.h5"}


def test_names() -> None:
    verbs = ExampleSet.from_arrays(np.eye(3), None, names=["v_go", "n_dog", None])
    renamed = edit.rename(verbs, {"v_*": "verb_*", "*": "other_*"})
    assert names(renamed) == ["verb_go", "other_n_dog", ""]
    assert names(edit.rename(verbs, str.upper)) == ["V_GO", "N_DOG", ""]
    assert names(edit.rename(verbs, {"*_*": "*-*"})) == ["v-go", "n-dog", ""]
    groups = exset.load("exset::groups.ex", model=ExampleSet)
    changed = edit.rename(groups, {"onset": "start"}, what="group")
    assert changed.groups[0] == b"start" and len(changed.groups) == len(groups.groups)
    assert edit.rename(changed, {"start": "onset"}, what="group") == groups
    assert edit.rename(SAMPLES, {"*.h5": "*.hdf5"}).files[1].name == "b.hdf5"
    again = edit.rename(RECORDS, {"10": "ten"}, what="label")
    assert again[1] == (b"a.png", b"ten") and again[0] == RECORDS[0]


@pytest.mark.parametrize("fmt", of_files(), ids=lambda fmt: fmt.name)
def test_what_a_record_declares_works(fmt: Format) -> None:
    """Fields, names, order and joining, on a file of each format."""
    family, model = fmt.family, exset.loads(good_file(fmt), format=fmt.name, findings=Findings())
    for what, _ in family.renames:
        assert edit.rename(model, lambda name: name, what=what) == model
    if not isinstance(model, Selectable):
        assert not family.fields
        return
    for field, _ in family.fields:
        assert sorted(family.group_of(edit.sort(model, field), field)) == sorted(
            family.group_of(model, field)
        )
        assert len(edit.keep(model, f"{field}!=0")) + len(edit.keep(model, f"{field}=0")) == len(
            model
        )
    assert isinstance(model, Joinable) and len(family.joined([model, model])) == 2 * len(model)
    assert len(edit.shuffle(model, seed=1)) == len(model)


def test_tables() -> None:
    table = Table.of(
        {"word": ["cat", None, "dog"], "n": [3, 1, 2], "x": [1.5, np.nan, 2], "v": np.eye(3)}
    )
    assert [row["n"] for row in edit.keep(table, "n>=2")] == [3, 2]
    assert edit.keep(table, "word=?o*") == edit.keep(table, word=["dog"]) == table[2:]
    assert [row["n"] for row in edit.sort(table, "n")] == [1, 2, 3]
    assert len(edit.keep(table, "x<9")) == 2 and len(edit.keep(table, "word=")) == 1
    absent = Table.of({"n": [1, None, 3]})
    assert len(edit.keep(absent, "n>0")) == 2 and len(edit.drop(absent, "n<9")) == 1
    assert edit.rename(table, {"w*": "W*"}).names == ("Word", "n", "x", "v")
    for wrong, message in (
        ("y=1", "no column 'y': its columns are word"),
        ("v=1", "no single numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            edit.keep(table, wrong)
    with pytest.raises(ValueError, match="two columns would have the same name"):
        edit.rename(table, {"n": "x"})


def test_blocks_are_joined() -> None:
    one, two = Block.of([[b"a", b"1"], [b"b", b"2"]]), Block.of([[b"c", b"3"]])
    assert one.concat(two) == Block.of([[b"a", b"1"], [b"b", b"2"], [b"c", b"3"]])
    assert Block.of([]).concat(one) == one.concat(Block.of([])) == one
    files = Block.archive([(b"x", b"1")]).concat(Block.archive([(b"y", b"2")]))
    assert files == Block.archive([(b"x", b"1"), (b"y", b"2")])


@given(example_sets(), st.integers(0, 9))
def test_edits_select_units(examples: ExampleSet, seed: int) -> None:
    kept, dropped = edit.keep(examples, "events<2"), edit.drop(examples, "events<2")
    assert len(kept) + len(dropped) == len(examples)
    assert edit.keep(kept, "events<2") == kept
    back = np.argsort(np.random.default_rng(seed).permutation(len(examples)))
    assert edit.shuffle(examples, seed=seed).select(back) == examples
    ordered = edit.sort(examples, "events")
    assert (np.diff(np.diff(ordered.event_offsets)) >= 0).all()


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: edit.keep(XOR, "name"), "^'name' is not a condition"),
        (lambda: edit.keep(XOR, "length=3"), "has no field 'length': choose one of name, events, "),
        (lambda: edit.keep(XOR, "name<3"), "^name is text: compare it with = or !=, not with <"),
        (lambda: edit.keep(XOR, "events>many"), "^events is a number, but 'many' is not"),
        (lambda: edit.keep(XOR, name="cat"), "^name: expected a list of values, not 'cat'"),
        (lambda: edit.sort(RECORDS, "2"), "has no field '2': choose one of name, label, 0, 1"),
        (lambda: edit.rename(XOR, {"a": "*"}), r"^'\*' has more \* than 'a'"),
        (
            lambda: edit.rename(XOR, {}, what="file"),
            "^exset can rename the name or group of an example set, not 'file'$",
        ),
        (lambda: edit.rename(Block.of([]), {}), "^a block has no names to rename"),
        (lambda: edit.rename(SAMPLES, {"b*": "a*"}), "^two files would have the name 'a.h5'"),
        (lambda: edit.rename(SAMPLES, {"b*": "b *"}), "contains a space"),
    ],
)
def test_errors(wrong: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()  # type: ignore[operator]


def test_groups_do_not_become_one() -> None:
    groups = exset.load("exset::groups.ex", model=ExampleSet)
    with pytest.raises(ValueError, match="two groups would have the name 'coda'"):
        edit.rename(groups, {"onset": "coda"}, what="group")
    with pytest.raises(ValueError, match="the group 'coda' would have no name"):
        edit.rename(groups, {"coda": ""}, what="group")
