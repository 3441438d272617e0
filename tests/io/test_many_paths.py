"""Many paths as one sequence."""

import sys
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.io import many_paths
from exset.io.many_paths import Paths, names_of

TEXTS = st.lists(st.text(max_size=8) | st.just("\udc80\ud800"))


@given(TEXTS, st.slices(9))
def test_they_are_a_sequence(texts: list[str], part: slice) -> None:
    paths = Paths(texts)
    assert [*paths] == texts and len(paths) == len(texts)
    assert [*paths[part]] == texts[part] and len(paths[part]) == len(texts[part])
    assert [*paths[part][::-2]] == texts[part][::-2]
    assert [*paths.distinct()] == [*dict.fromkeys(texts)]


@given(TEXTS, st.booleans())
def test_equal_paths_are_found(texts: list[str], collide: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(many_paths, "hash", len, raising=False)
        assert Paths(texts).firsts().tolist() == [texts.index(each) for each in texts]


def test_they_take_little_memory() -> None:
    paths = Paths(f"folder/{number:06}.h5" for number in range(1000))
    one, all_of = sys.getsizeof(paths[0]), sum(map(sys.getsizeof, vars(paths).values()))
    assert all_of < 1000 * one / 2


def test_names_of_many() -> None:
    assert names_of(["a", "b"]) == "a, b"
    assert names_of(Paths(islice("abcdefghij", 9)), 3) == "a, b, c and 6 more"
