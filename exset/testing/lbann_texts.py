"""Hypothesis strategies for LBANN's files as people write them: lists, schemas, pairs of schemas.

The texts are small. Most texts are valid; each of the other texts has one likely mistake.
"""

import json

from hypothesis import strategies as st

_KINDS = st.sampled_from(
    [
        *("CONDUIT_HDF5_INCLUSION", "CONDUIT_HDF5_EXCLUSION", "MULTI-SAMPLE_INCLUSION"),
        *("MULTI-SAMPLE_EXCLUSION", "MULTI-SAMPLE_INCLUSION_V2", "SINGLE-SAMPLE"),
        *("conduit_hdf5_inclusion", "Multi-Sample_Inclusion_V2", "single-sample", "INCLUSION"),
    ]
)
_NAMES = st.sampled_from(["a.h5", "b.h5", "c/d.h5", "#a", "/e", "7"])
_IDS = st.sampled_from(["s0", "s1", "s2", "07", "7", "007", "...", "#1", "0", "a"])
_INTEGERS = st.sampled_from(
    [
        *((1, "0"), (1, "7"), (1, "007"), (1, "-3"), (1, "+2"), (3, "0 ... 2"), (4, "8 ... 11")),
        *((2, "4 ... 5"), (1, "3 ... 3"), (0, "5 ... 4"), (0, "..."), (1, "s0"), (1, "2.5")),
    ]
)
"""Integer ids and ranges as words, with the number of samples of each."""
_BLANK = st.sampled_from([*[" "] * 8, "  ", "\t", " \t", "\v"])
_ENDS = st.sampled_from(["\n", "\n", "\n", "\n", "\r\n"])


@st.composite
def list_texts(draw: st.DrawFn, *, integers: bool = False) -> bytes:
    """Draw a sample list, which need not be valid; `integers`: one to read with `ids="integer"`.

    Exclusion lists with integer ids are not drawn: LBANN cannot read them.
    """
    kinds = _KINDS.filter(lambda kind: "EXCLUSION" not in kind.upper())
    kind = draw(kinds if integers else _KINDS)
    upper = kind.upper()
    single, exclusion = upper == "SINGLE-SAMPLE", "EXCLUSION" in upper
    lines, included, excluded = list[str](), 0, 0
    unique = not single and draw(st.integers(0, 5)) > 0
    for name in draw(st.lists(_NAMES, max_size=3, unique=unique)):
        if single:
            lines.append(draw(_BLANK).join([name, *draw(st.sampled_from([[], [], ["1"]]))]))
            continue
        ids = draw(_ids(integers, exclusion))
        counts = [sum(count for count, _ in ids), draw(st.integers(0, 2))]
        if draw(st.integers(0, 11)) == 11:
            counts[0] += draw(st.sampled_from([1, -1]))
        counts = counts[::-1] if exclusion else counts
        included, excluded = included + counts[0], excluded + counts[1]
        shown = counts[:1] if upper.endswith("_V2") else counts
        words = [word for _, text in ids for word in text.split()]
        lines.append(draw(_BLANK).join([name, *map(str, shown), *words]))
    files = len(lines) + draw(st.sampled_from([*[0] * 12, 1, -1]))
    totals = [included + draw(st.sampled_from([0, 0, 0, 1])), excluded, files]
    totals = [files] if single else totals[::2] if upper.endswith("_V2") else totals
    head = [kind + draw(st.sampled_from(["", "", "", " x"])), draw(_BLANK).join(map(str, totals))]
    head.append(draw(st.sampled_from(["/d", "/d", "d/", "/my data", ""])))
    if single or (upper.startswith("MULTI") and not upper.endswith("_V2")):
        head += draw(st.sampled_from([["none"], ["none"], ["l.txt x"], []]))
    if draw(st.integers(0, 5)) == 5:
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "  ", ""])))
    last = draw(st.sampled_from(["\n", "\n", "\n", ""]))
    return ("\n".join([*head, *lines]) + last).replace("\n", draw(_ENDS)).encode()


@st.composite
def _ids(draw: st.DrawFn, integers: bool, is_exclusion: bool) -> list[tuple[int, str]]:
    """Draw the ids in a line of a list: pairs of a number of samples and an id, as text.

    The number says how many samples the id names. integers: whether ids are integers and ranges.
    is_exclusion: whether the list excludes the samples of these ids; then most lines have no id
    twice.
    """
    names = _INTEGERS if integers else _IDS.map(lambda name: (1, name))
    ids = draw(st.lists(names, max_size=3, unique=is_exclusion))
    if ids and draw(st.integers(0, 7)) == 7:
        ids.append(ids[0])
    return ids


_VALUES = st.sampled_from(
    [
        *("1", "2", "-3", "+4", "010", "'5'", '"6"', "2.0", "2.", ".5", "1e3", "'0.5'", "-0.0"),
        *("0x1F", "inf", "nan", "1e400", "9223372036854775808", "0.1", "samples", "'a b'", '"a"'),
        *("true", "null", "~", "yes", "1_000", "0o17", "2020-01-01", "", "''", "[1, 2]", "[3]"),
        *("[1, 2.5]", "[0.5]", "['3', 4]", "[a, b]", "a#b", "{x: 1}", "é", "off"),
    ]
)
_FIELDS = st.sampled_from(["a", "b", "c", "d.e", "'f g'", "1", "A", "scale", "é"])
_DIRECTIVES = st.sampled_from(["scale", "bias", "pack", "ordering", "dims", "coerce", "x", "hwc"])
_SCHEMA_MISTAKES = st.sampled_from(["\t", "  b\n", "a: {\n", "x: 'y\n", "- a\n", "*x\n", "a: *b\n"])


@st.composite
def schema_texts(draw: st.DrawFn) -> bytes:
    """Draw the text of a schema, which need not be valid."""
    lines = draw(_schema_lines(""))
    if draw(st.integers(0, 9)) == 9:
        lines.insert(draw(st.integers(0, len(lines))), draw(_SCHEMA_MISTAKES).rstrip("\n"))
    if draw(st.integers(0, 5)) == 5:
        lines.insert(0, draw(st.sampled_from(["# c", "---", ""])))
    return ("\n".join(lines) + "\n").replace("\n", draw(_ENDS)).encode()


@st.composite
def _schema_lines(draw: st.DrawFn, indent: str) -> list[str]:
    """Draw the lines of the children and directives of a node."""
    lines = list[str]()
    if draw(st.integers(0, 3)) == 0:
        lines += draw(_metadata_lines(indent))
    is_unique = draw(st.integers(0, 9)) > 0
    for name in draw(st.lists(_FIELDS, min_size=1, max_size=2, unique=is_unique)):
        below = draw(st.sampled_from(["", "", "group", "metadata", "metadata", "value"]))
        if below == "value":
            lines.append(f"{indent}{name}: {draw(_VALUES)}")
            continue
        lines.append(f"{indent}{name}:")
        deeper = indent + "  "
        if below == "group" and len(deeper) < 8:
            lines += draw(_schema_lines(deeper))
        elif below:
            lines += draw(_metadata_lines(deeper))
    return lines


@st.composite
def _metadata_lines(draw: st.DrawFn, indent: str) -> list[str]:
    is_unique = draw(st.integers(0, 9)) > 0
    names = draw(st.lists(_DIRECTIVES, max_size=3, unique=is_unique))
    pairs = [f"{name}: {draw(_VALUES)}" for name in names]
    plain = [pair for pair in pairs if "#" not in pair]
    if draw(st.booleans()):
        return [f"{indent}metadata: {{{', '.join(plain)}}}"]
    return [f"{indent}metadata:", *(f"{indent}  {pair}" for pair in pairs)]


@st.composite
def pair_requests(draw: st.DrawFn) -> bytes:
    """Draw a pair of schemas as JSON. The experiment schema may select fields that do not exist."""
    names = st.sampled_from(["a", "b", "g", "h"])
    both = [draw(_tree(names, 0)) for _ in range(2)]
    if draw(st.integers(0, 9)) < 8:
        both[1] = draw(_selection(both[0]))
    texts = dict(zip(("data", "experiment"), map(json.dumps, both), strict=True))
    return (json.dumps(texts) + "\n").encode()


_NUMBERS = st.sampled_from([1, 2, 1.0, 2.5, "samples", [1, 2]])
_METADATA = st.dictionaries(st.sampled_from(["scale", "pack", "x"]), _NUMBERS, max_size=2)


@st.composite
def _tree(draw: st.DrawFn, names: st.SearchStrategy[str], depth: int) -> dict[str, object]:
    children = draw(st.lists(names, min_size=depth == 0, max_size=2, unique=True))
    made: dict[str, object] = {
        name: draw(_tree(names, depth + 1)) if depth < 2 else {} for name in children
    }
    metadata = draw(_METADATA)
    return {**made, "metadata": metadata} if metadata else made


@st.composite
def _selection(draw: st.DrawFn, tree: dict[str, object]) -> dict[str, object]:
    """Draw an experiment schema for a data schema, which is `tree`.

    The drawn schema has some nodes of the tree, and maybe one node that the tree lacks.
    """
    made = dict[str, object]()
    for name, child in tree.items():
        if name != "metadata" and draw(st.integers(0, 3)):
            assert isinstance(child, dict)
            made[name] = draw(_selection(child)) if draw(st.booleans()) else {}
    if draw(st.integers(0, 15)) == 15:
        made[draw(st.sampled_from(["z", "A"]))] = {}
    metadata = draw(_METADATA) if draw(st.booleans()) else {}
    return {**made, "metadata": metadata} if metadata else made
