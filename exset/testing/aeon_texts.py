"""Hypothesis strategies for aeon's files as people write them: manifests, configurations, blocks.

The files are small. Most files are valid; each of the other files has one likely mistake.
"""

import json
import struct

from hypothesis import strategies as st

_TYPES = st.sampled_from(["FILE", "BINARY", "STRING", "ASCII_INT", "ASCII_FLOAT"])
_FIELDS = {
    "STRING": "a|b c| a |a#b|a,b|x@y||#c|é",
    "FILE": "a.jpg|/b.jpg|c d.jpg|./e.jpg",
    "BINARY": "AAEC/w==|QUJD|QUI=||+/+/",
    "ASCII_INT": "0|7|-3|+5|007| 9|9 |3.99|-3.99|1e3|0x1F|12ab|x||1_0|5.|.9",
    "ASCII_FLOAT": (
        "0.5|1|-0.0|16777217|1e-40|nan|-inf|0x1.8p1|2.5kg|x||1,5|3.4028234e38|1e400|0.1234567| 2"
    ),
}
_LINES = st.sampled_from(["", "# c", "#", " ", "@STRING", "@", "a\tb\tc", "@INT", " # d"])


@st.composite
def manifest_texts(draw: st.DrawFn) -> bytes:
    """Draw the text of a manifest of aeon's last version, which need not be valid."""
    types = draw(st.lists(_TYPES, min_size=1, max_size=3))
    header = "@" + "\t".join(types)
    if draw(st.integers(0, 9)) == 9:
        header = draw(st.sampled_from([header.lower(), f"{header} ", header[1:], f"{header}\t"]))
    lines = [header]
    for _ in range(draw(st.integers(0, 3))):
        row = [draw(st.sampled_from(_FIELDS[kind].split("|"))) for kind in types]
        if draw(st.integers(0, 11)) == 11:
            row = [*row, ""] if draw(st.booleans()) else row[:-1]
        lines.append("\t".join(row))
    if draw(st.integers(0, 2)) == 2:
        lines.insert(draw(st.integers(0, len(lines))), draw(_LINES))
    end = draw(st.sampled_from(["\n", "\n", "\n", "\n", "\n", "\r\n"]))
    return (end.join(lines) + draw(st.sampled_from([end, end, ""]))).encode()


_MEMBERS = st.sampled_from(
    [
        *([("batch_size", n) for n in (2.7, -1, 4294967298, "2", 0, True)]),
        *([("random_seed", n) for n in (-1, 5, "x")]),
        *([("subset_fraction", n) for n in (0.5, 0, 1.5, -0.1, 0.1)]),
        *([("shuffle_enable", n) for n in (True, 1, "true")]),
        *([("iteration_mode", n) for n in ("ONCE", "COUNT", "once", "INFINITE")]),
        *(("iteration_mode_count", 3), ("block_size", 0), ("block_size", 100), ("node_id", -2)),
        *(("zzz", 1), ("batchsize", 2), ("batch_major", False), ("manifest_root", "/d")),
        *(("cpu_list", "0-3"), ("pinned", True), ("cache_directory", "/c")),
    ]
)
_SIZE: dict[str, object] = {"height": 40, "width": 64}
_OBJECTS: dict[str, list[dict[str, object]]] = {
    "image": [_SIZE, {**_SIZE, "height": 4.9}, {"height": 4}],
    "pixelmask": [{**_SIZE, "channels": 1}],
    "label": [{}],
    "blob": [{"output_count": 3}, {}],
    "char_map": [{"max_length": 5, "alphabet": "AB"}, {"max_length": 5, "alphabet": "ABA"}],
    "label_map": [{"class_names": ["a"], "max_classes": 4}, {}],
    "boundingbox": [{**_SIZE, "max_bbox_count": 3, "class_names": ["a"]}],
    "video": [{"max_frame_count": 2, "frame": {**_SIZE, "channels": 1}}, {"max_frame_count": 2}],
    "localization_ssd": [{**_SIZE, "class_names": ["a"]}],
    "localization_rcnn": [{**_SIZE, "class_names": ["a"]}],
    "picture": [{}],
}
_EXTRAS: dict[str, list[tuple[str, object]]] = {
    "image": [
        ("channels", 1),
        ("channels", 2),
        ("channel_major", False),
        ("output_type", "float"),
        ("output_type", "int64_t"),
        ("depth", 1),
    ],
    "label": [("binary", True), ("binary", 1), ("output_type", "int8_t")],
    "blob": [("output_type", "double")],
    "char_map": [("emit_length", True), ("unknown_value", 1), ("unknown_value", 2)],
    "boundingbox": [("output_type", "double")],
    "localization_rcnn": [("scales", [2, 4]), ("ratios", [1]), ("scaling_factor", 0.1)],
    "localization_ssd": [("max_gt_boxes", 3)],
}
_PAIRS = st.tuples(
    st.sampled_from(["angle", "hue", "scale", "contrast", "brightness", "saturation"]),
    st.sampled_from([[0, 1], [0.5, 1], [0.9, 1.1], [-10, 10], [1, 0], [10, -10], [0.9, 0.5]]),
)
"""Members of an augmentation that need two numbers in ascending order, here in any order."""

_CHANGES = _PAIRS | st.sampled_from(
    [
        *(("flip_enable", True), ("hue", [0.9, 1.9]), ("scale", 0.5), ("lighting", [0.5, 0.1])),
        *(("rotate", 5), ("x", 1), ("y", 2), ("center", False), ("padding", 2)),
        *(("expand_ratio", [0.5, 2]), ("expand_ratio", [2, 1]), ("fixed_scaling_factor", 2)),
    ]
)


@st.composite
def config_texts(draw: st.DrawFn) -> bytes:
    """Draw the text of a loader configuration, which need not be valid."""
    etl = [draw(_etl()) for _ in range(draw(st.integers(0, 2)))]
    made: dict[str, object] = {"manifest_filename": "a.tsv", "batch_size": 2, "etl": etl}
    made |= dict(draw(st.lists(_MEMBERS, max_size=2)))
    if draw(st.booleans()):
        if not etl or draw(st.booleans()):  # without pictures aeon does not read it
            etl.append({"type": "image", **_SIZE, "name": "c"})
        some = st.lists(_CHANGES, min_size=1, max_size=3).map(dict)
        objects = [{"type": "image", **draw(some)} for _ in range(draw(st.integers(1, 2)))]
        if draw(st.integers(0, 9)) == 9:
            del objects[-1]["type"]
        made["augmentation"] = objects
    if draw(st.integers(0, 14)) == 14:
        del made[draw(st.sampled_from(["manifest_filename", "batch_size", "etl"]))]
    text = json.dumps(made)
    if draw(st.integers(0, 14)) == 14:
        text = text.replace(*draw(st.sampled_from([("}", ",}"), ('"', "'"), (": 2", ": 02")])))
    return text.encode()


@st.composite
def _etl(draw: st.DrawFn) -> dict[str, object]:
    kind = draw(st.sampled_from(list(_OBJECTS)))
    made: dict[str, object] = {"type": kind, **draw(st.sampled_from(_OBJECTS[kind]))}
    if kind in _EXTRAS:
        some = st.sampled_from([[], *([each] for each in _EXTRAS[kind])])
        made |= dict(draw(some))
    if draw(st.integers(0, 3)) == 3:
        made["name"] = draw(st.sampled_from(["a", "b"]))
    return made


_DATA = st.sampled_from(
    [
        *(b"a", b"ab", b"", b"abc", b"x\0", b"\0", b"a\r\nb", b"\xff\xfe", b"TRAILER!!!"),
        *(b"cpiotlr", b"\7\0\0\0", b"\xc7\x71", b"x" * 65537),
    ]
)
_ENTRY_NAMES = st.sampled_from([*[b"rec_0000000.00"] * 4, b"a", b"ab", b"abc", b"TRAILER!!!x"])


@st.composite
def block_files(draw: st.DrawFn) -> bytes:
    """Draw the bytes of a cache block, which need not be valid."""
    width, count = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    made = bytearray()
    size = draw(st.sampled_from([*[64] * 14, 60, 66]))
    magic = draw(st.sampled_from([*[b"MACR"] * 14, b"MACS"]))
    other = draw(st.sampled_from([count, count, 0, width]))
    head = magic + struct.pack("<II8sII", 1, 1, b" " * 8, count, other)
    made += _entry(b"cpiohdr", head.ljust(64, b"\0")[:size].ljust(size, b"\0"))
    for _ in range(width * count):
        mode = draw(st.sampled_from([*[0o100644] * 9, 0o100755]))
        made += _entry(draw(_ENTRY_NAMES), draw(_DATA), mode)
    if draw(st.integers(0, 7)):
        name = draw(st.sampled_from([b"cpiotlr", b"cpiotlr", b"cpiotrl"]))
        made += _entry(name, bytes(16))
        if draw(st.integers(0, 9)) == 9:
            return bytes(made)
    made += _entry(b"TRAILER!!!", b"") + bytes(draw(st.sampled_from([0, 0, 0, 2, 512])))
    if draw(st.integers(0, 14)) == 14:
        at = draw(st.sampled_from([0, 98, 118, 54, 22]))
        made[at] ^= 1
    return bytes(made)


def _entry(name: bytes, data: bytes, mode: int = 0o100644) -> bytes:
    size, length = len(data), len(name) + 1
    words = (0o070707, 0, 0, mode, 0, 0, 0, 0, 0, 0, length, size >> 16, size & 0xFFFF)
    head = struct.pack("<13H", *words)
    return head + name + bytes(1 + length % 2) + data + bytes(size % 2)
