"""Check whether the members of a configuration fit together. Find values that aeon accepts at
first, but fails on later.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from exset.grammars.aeon.config.findings import Problem
from exset.grammars.aeon.config.numbers import NoLength, spans_of
from exset.grammars.aeon.config.outputs import element_outputs
from exset.grammars.aeon.config.picture_lint import pictures
from exset.grammars.aeon.config.settings import Settings

Problems: TypeAlias = Iterator[Problem]

_REFUSED: Final = "aeon-rule"
_LATER: Final = "aeon-later"
_MOST_LABELS: Final = 4
_WINDOWS: Final = ("hann", "hamming", "blackman", "bartlett", "none")


def lint(loader: Settings) -> Problems:
    """Yield the problems of a configuration in which each member alone is valid."""
    yield from _loader(loader)
    for number, element in enumerate(loader.objects("etl")):
        if check := _CHECKS.get(element.type):
            yield from _inside(f"etl[{number}]", check(element))
    for element in loader.objects("augmentation")[:1]:
        yield from _inside("augmentation[0]", _augmentation(element))
        yield from _inside("augmentation[0]", pictures(element, loader.objects("etl")))
    yield from _names(loader)


def _inside(path: str, problems: Problems) -> Problems:
    for problem in problems:
        yield problem._replace(path=f"{path}.{problem.path}")


def _loader(loader: Settings) -> Problems:
    if loader["iteration_mode"] == "COUNT" and loader.number("iteration_mode_count") <= 0:
        what, hint = (
            "iteration_mode COUNT needs 1 or more",
            "set it to the number of batches in a pass",
        )
        yield Problem(_REFUSED, "iteration_mode_count", what, hint)
    if loader.number("batch_size") <= 0:
        what = "fails: a batch must have 1 or more records"
        yield Problem(_LATER, "batch_size", what, "set batch_size to 1 or more")
    if loader["subset_fraction"] == 0:
        what = "fails: it selects no records"
        yield Problem(_LATER, "subset_fraction", what, "leave it out to use all records")
    if "node_count" in loader.members:
        count = loader.number("node_count")
        if loader.number("node_id") >= count > 1:
            yield Problem(
                _LATER, "node_id", f"rejects it: node_count is {count}, and ids begin at 0"
            )


def _image(element: Settings) -> Problems:
    for name in ("height", "width"):
        if element[name] == 0:
            yield Problem(_REFUSED, name, "it must be 1 or more")
    if element.type == "image" and element["channels"] == 1 and element.given.get("bgr_to_rgb"):
        yield Problem(_REFUSED, "bgr_to_rgb", "it needs channels: 3")


def _video(element: Settings) -> Problems:
    for frame in element.objects("frame"):
        yield from _inside("frame", _image(frame))


def _label(element: Settings) -> Problems:
    dtype, hint = str(element["output_type"]), "use int32_t or uint32_t"
    if dtype in ("float", "double"):
        yield Problem(_LATER, "output_type", "writes the bits of an integer into a float", hint)
    elif dtype not in ("int32_t", "uint32_t"):
        yield Problem(_LATER, "output_type", "keeps only the lowest bits of a label", hint)


def _char_map(element: Settings) -> Problems:
    yield from _uint32(element)
    alphabet = str(element["alphabet"])
    for char in [char for char, count in Counter(alphabet).items() if count > 1][:1]:
        yield Problem(_REFUSED, "alphabet", f"it has {char!r} more than once")
    letters = Counter(map(_upper, dict.fromkeys(alphabet)))
    for char in [char for char, count in letters.items() if count > 1][:1]:
        what = f"converts it to upper case: {char!r} appears twice"
        hint = "write each letter once: aeon gives repeated letters the same code"
        yield Problem(_LATER, "alphabet", what, hint)
    unknown = element.number("unknown_value")
    if 0 < unknown < len(alphabet):
        what = f"it must be 0, or {len(alphabet)} or more: {unknown} is the code of a letter"
        yield Problem(_REFUSED, "unknown_value", what)


def _label_map(element: Settings) -> Problems:
    yield from _uint32(element)
    most = element.number("max_classes")
    if most > _MOST_LABELS:
        shown = most if "max_classes" in element.given else f"{most} (the default)"
        what = (
            f"crashes: max_classes is {shown}, but aeon's array has room for {_MOST_LABELS} labels"
        )
        yield Problem(_LATER, "max_classes", what, f"set max_classes to {_MOST_LABELS} or less")


def _uint32(element: Settings) -> Problems:
    if element["output_type"] != "uint32_t":
        yield Problem(_REFUSED, "output_type", f"it must be uint32_t for a {element.type}")


def _audio(element: Settings) -> Problems:
    try:
        spans = spans_of(element)
    except NoLength as error:
        name, hint = str(error), "write `4 seconds`, `25 milliseconds` or `400 samples`"
        yield Problem(_REFUSED, name, f"{element[name]!r} is not a length of time", hint)
        return
    allowed: tuple[str, ...] = ("uint8_t",)
    if element["feature_type"] == "samples":
        allowed = ("int16_t", "float")
        if spans.length != 1 or spans.stride != 1:
            what = "it and frame_stride must be 1 sample if feature_type is samples"
            yield Problem(_REFUSED, "frame_length", what)
    if element["output_type"] not in allowed:
        what = f"it must be {' or '.join(allowed)} for {element['feature_type']}"
        yield Problem(_REFUSED, "output_type", what)
    if element["window_type"] not in _WINDOWS:
        yield Problem(_REFUSED, "window_type", f"it must be one of {', '.join(_WINDOWS)}")
    filters = element.number("num_filters")
    if element["feature_type"] == "mfcc" and element.number("num_cepstra") > filters:
        what, hint = (
            f"fails: num_cepstra is larger than num_filters, {filters}",
            "reduce num_cepstra",
        )
        yield Problem(_LATER, "num_cepstra", what, hint)
    if not spans.stride:
        yield Problem(_REFUSED, "frame_stride", "it must be 1 sample or more")
    elif spans.length > spans.duration:
        what = "fails: a frame is longer than max_duration, and the output larger than memory"
        yield Problem(_LATER, "frame_length", what)


_CHECKS: Final[Mapping[str, Callable[[Settings], Problems]]] = {
    "image": _image,
    "label": _label,
    "pixelmask": _image,
    "video": _video,
    "char_map": _char_map,
    "label_map": _label_map,
    "audio": _audio,
}


def _augmentation(element: Settings) -> Problems:
    if "padding" not in element.members:
        return
    hint = 'set "crop_enable": false'
    if element.number("padding") > 0 and element["crop_enable"]:
        yield Problem(_LATER, "padding", "fails on every image while crop_enable is true", hint)
    if element["batch_samplers"] and element["crop_enable"]:
        yield Problem(_REFUSED, "batch_samplers", "it needs crop_enable to be false", hint)
    constraint = str(element["emit_constraint_type"])
    if constraint.lower() not in ("", "center", "min_overlap"):
        what = f"it must be center, min_overlap or empty, not {constraint!r}"
        yield Problem(_REFUSED, "emit_constraint_type", what)


def _names(loader: Settings) -> Problems:
    """Yield a problem for each etl object with an output of the same name as an earlier object's
    output.
    """
    seen: set[str] = set()
    for number, element in enumerate(loader.objects("etl")):
        try:
            names = {output.name for output in element_outputs(element)}
        except (ValueError, ZeroDivisionError):
            continue
        for name in sorted(names & seen)[:1]:
            what = f"writes two outputs to one place: another one is named {name!r}"
            yield Problem(_LATER, f"etl[{number}]", what, 'give each of them a "name"')
        seen |= names


def _upper(char: str) -> str:
    """Return a character in upper case as C's `towupper` does.

    The result is always one character, unlike that of `str.upper`.
    """
    upper = char.upper()
    return upper if len(upper) == 1 else char
