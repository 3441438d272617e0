"""The samples of lists, grouped by file."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from exset.runtime.lbann.listed_samples import FileSamples, ListedSamples
from exset.runtime.lbann.sample_reader import joined

PAIRS = st.lists(st.tuples(st.sampled_from(["a", "b/c", "\udc80", ""]), st.integers(0, 5)))


@given(PAIRS, st.booleans(), st.sampled_from(["", "base", "base/"]), st.slices(4))
def test_they_are_grouped_by_file(
    pairs: list[tuple[str, int]], as_text: bool, base: str, part: slice
) -> None:
    given = ((name, str(each) if as_text else each) for name, each in pairs)
    expected: dict[str, list[str]] = {}
    for name, each in pairs:
        expected.setdefault(name, []).append(str(each))
    files = [
        FileSamples(joined(base, name), tuple(dict.fromkeys(ids)), ids[0])
        for name, ids in expected.items()
    ]
    listed = ListedSamples(given)
    assert len(listed) == len(pairs)
    assert [*listed.files(base)] == files and [*listed.files(base)[part]] == files[part]


def test_they_take_little_more_memory_than_their_text() -> None:
    sizes = [0, 0]
    for which, count in enumerate((1000, 2000)):
        pairs = ((f"run/{file:06}.h5", f"{each:09}") for file in range(count) for each in range(4))
        listed = ListedSamples(pairs)
        held = [*vars(listed).values(), *vars(listed._ids).values(), *vars(listed._names).values()]
        sizes[which] = sum(map(sys.getsizeof, held))
    assert sizes[1] - sizes[0] < 1000 * 2 * (13 + 4 * 9 + 5 * 8)
