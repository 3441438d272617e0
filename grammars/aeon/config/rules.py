"""What members must be together, and what aeon accepts but then fails on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from exset.grammars.aeon.config.outputs import NoLength, element_outputs, spans_of
from exset.grammars.aeon.config.settings import Settings

Doubtful: TypeAlias = Iterator[tuple[str, str, dict[str, object]]]
"""The code of a finding, the path of what it is about, its words."""

_LABELS: Final = 4


def doubts(loader: Settings) -> Doubtful:
    """Yield what is wrong with a configuration of which each member is right by itself."""
    yield from _loader(loader)
    for number, element in enumerate(loader.objects("etl")):
        path = f"etl[{number}]"
        if rule := _RULES.get(element.type):
            yield from rule(element, path)
    for number, element in enumerate(loader.objects("augmentation")[:1]):
        yield from _augmentation(element, f"augmentation[{number}]")
    yield from _names(loader)


def _wrong(path: str, what: str, hint: str = "") -> tuple[str, str, dict[str, object]]:
    return "aeon-rule", path, {"where": path, "what": what, "hint": hint}


def _later(path: str, what: str, hint: str = "") -> tuple[str, str, dict[str, object]]:
    return "aeon-later", path, {"where": path, "what": what, "hint": hint}


def _loader(loader: Settings) -> Doubtful:
    if loader["iteration_mode"] == "COUNT" and loader.number("iteration_mode_count") <= 0:
        hint = "say how many batches there are in a pass"
        yield _wrong("iteration_mode_count", "must be 1 or more where the mode is COUNT", hint)
    if loader.number("batch_size") <= 0:
        yield _later("batch_size", "fails: there is no such batch", "1 or more")
    if loader["subset_fraction"] == 0:
        yield _later("subset_fraction", "refuses to select nothing", "leave it out for all records")
    if "node_count" in loader.members:
        node, count = loader.number("node_id"), loader.number("node_count")
        if node >= count > 1:
            yield _later("node_id", f"refuses it: there are {count} nodes, from 0", "")


def _image(element: Settings, path: str) -> Doubtful:
    for name in ("height", "width"):
        if element[name] == 0:
            yield _wrong(f"{path}.{name}", "must be 1 or more")


def _video(element: Settings, path: str) -> Doubtful:
    for frame in element.objects("frame"):
        yield from _image(frame, f"{path}.frame")


def _label(element: Settings, path: str) -> Doubtful:
    dtype, hint = str(element["output_type"]), "int32_t or uint32_t hold a label"
    if dtype in ("float", "double"):
        yield _later(f"{path}.output_type", "puts the bits of an integer into it", hint)
    elif dtype not in ("int32_t", "uint32_t"):
        yield _later(f"{path}.output_type", "keeps the lowest bits of a label alone", hint)


def _char_map(element: Settings, path: str) -> Doubtful:
    if element["output_type"] != "uint32_t":
        yield _wrong(f"{path}.output_type", "must be uint32_t for a char_map")
    alphabet = [_upper(char) for char in str(element["alphabet"])]
    twice = [char for char, count in Counter(alphabet).items() if count > 1]
    if twice:
        hint = "aeon takes small letters for capital ones"
        yield _wrong(f"{path}.alphabet", f"{twice[0]!r} is in it more than once", hint)
    unknown = element.number("unknown_value")
    if 0 < unknown < len(alphabet):
        what = f"must be 0, or {len(alphabet)} or more: {unknown} stands for a letter"
        yield _wrong(f"{path}.unknown_value", what)


def _label_map(element: Settings, path: str) -> Doubtful:
    if element["output_type"] != "uint32_t":
        yield _wrong(f"{path}.output_type", "must be uint32_t for a label_map")
    if element.number("max_classes") > _LABELS:
        what = f"crashes: it writes {element['max_classes']} numbers where {_LABELS} fit"
        yield _later(f"{path}.max_classes", what, f"say {_LABELS} or less")


def _audio(element: Settings, path: str) -> Doubtful:
    try:
        spans = spans_of(element)
    except NoLength as error:
        name, hint = str(error), "as in `4 seconds`, `25 milliseconds`, `400 samples`"
        yield _wrong(f"{path}.{name}", f"{element[name]!r} is no length of time", hint)
        return
    raw = element["feature_type"] == "samples"
    wanted: tuple[str, ...] = ("uint8_t",)
    if raw:
        wanted = ("int16_t", "float")
        if spans.length != 1 or spans.stride != 1:
            what = "must be 1 sample where the feature_type is samples"
            yield _wrong(f"{path}.frame_length", what, "as must frame_stride")
    if element["output_type"] not in wanted:
        what = f"must be {' or '.join(wanted)} for {element['feature_type']}"
        yield _wrong(f"{path}.output_type", what)
    if not spans.stride:
        yield _wrong(f"{path}.frame_stride", "must be a sample or more")
    elif spans.length > spans.duration:
        what = "fails: a frame is longer than the whole, and the output larger than memory"
        yield _later(f"{path}.frame_length", what)


_RULES: Final[Mapping[str, Callable[[Settings, str], Doubtful]]] = MappingProxyType(
    {
        "image": _image,
        "label": _label,
        "pixelmask": _image,
        "video": _video,
        "char_map": _char_map,
        "label_map": _label_map,
        "audio": _audio,
    }
)


def _augmentation(element: Settings, path: str) -> Doubtful:
    members = element.members
    if "padding" in members and element.number("padding") > 0 and element["crop_enable"]:
        what = "fails on every image while crop_enable is true"
        yield _later(f"{path}.padding", what, 'say "crop_enable": false')
    if "batch_samplers" in members and element["batch_samplers"] and element["crop_enable"]:
        what = "cannot be used while crop_enable is true"
        yield _wrong(f"{path}.batch_samplers", what, 'say "crop_enable": false')
    if "emit_constraint_type" in members:
        word = str(element["emit_constraint_type"])
        if word.lower() not in ("", "center", "min_overlap"):
            what = f"must be center, min_overlap or empty, and is {word!r}"
            yield _wrong(f"{path}.emit_constraint_type", what)


def _names(loader: Settings) -> Doubtful:
    """What has the name of another output."""
    seen: set[str] = set()
    for number, element in enumerate(loader.objects("etl")):
        try:
            names = {output.name for output in element_outputs(element)}
        except (ValueError, ZeroDivisionError):
            continue
        for name in sorted(names & seen)[:1]:
            what = f"writes two outputs to one place: another is called {name!r}"
            yield _later(f"etl[{number}]", what, 'give each of them a "name"')
        seen |= names


def _upper(char: str) -> str:
    """A character as C's towupper has it: one for one."""
    upper = char.upper()
    return upper if len(upper) == 1 else char
