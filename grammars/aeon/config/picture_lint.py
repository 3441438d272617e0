"""Check the augmentation of pictures against the etl objects that use it."""

from collections.abc import Iterator, Sequence
from typing import Final

from exset.grammars.aeon.config.collector import IMAGES
from exset.grammars.aeon.config.findings import Problem
from exset.grammars.aeon.config.settings import Settings

_METHODS: Final = ("NEAREST", "LINEAR", "CUBIC", "AREA", "LANCZOS4")
_OF_COLOURS: Final = ("brightness", "saturation", "hue")


def pictures(augmentation: Settings, etl: Sequence[Settings]) -> Iterator[Problem]:
    """Yield the problems of an augmentation. Their paths are relative to the augmentation."""
    if augmentation.type != "image" or IMAGES.isdisjoint(each.type for each in etl):
        return
    if "interpolation_method" in augmentation.members:
        yield from _later_members(augmentation)
    changed = [name for name in _OF_COLOURS if name in _changed(augmentation)]
    for number, element in enumerate(etl):
        if element.type == "image":
            yield from _standardization(augmentation, element, f"etl[{number}]")
            if changed and element["channels"] == 1:
                what = f"fails on etl[{number}], which has 1 channel"
                yield Problem("aeon-later", changed[0], what, "leave it out, or set channels to 3")
        if element.type == "boundingbox" and "angle" in _changed(augmentation):
            what = f"crashes on etl[{number}]: aeon does not rotate boxes"
            yield Problem("aeon-later", "angle", what, "leave it out")


def _changed(augmentation: Settings) -> set[str]:
    """Return the names of the members whose values differ from the defaults."""
    known = augmentation.members
    return {name for name, value in augmentation.given.items() if value != known[name].default}


def _later_members(augmentation: Settings) -> Iterator[Problem]:
    """Yield the problems of `interpolation_method` and `batch_samplers`.

    aeon added these members in May 2017.
    """
    method = str(augmentation["interpolation_method"])
    if method.upper() not in _METHODS:
        what, hint = "fails when it resizes an image", f"use one of {', '.join(_METHODS)}"
        yield Problem("aeon-later", "interpolation_method", what, hint)
    for number, sampler in enumerate(augmentation.objects("batch_samplers")):
        if "max_sample" not in sampler.given:
            path = f"batch_samplers[{number}]"
            what, hint = "it needs max_sample", "add this member: the largest number of samples"
            yield Problem("aeon-rule", path, what, hint)


def _standardization(augmentation: Settings, element: Settings, of: str) -> Iterator[Problem]:
    for name in ("mean", "stddev"):
        values = augmentation[name] if name in augmentation.members else ()
        if not isinstance(values, tuple) or not values:
            continue
        if element["output_type"] not in ("float", "double"):
            hint = f'set the output_type of {of} to "float" or "double"'
            what = f"{of} has the output_type {element['output_type']}"
            yield Problem("aeon-rule", name, what, hint)
        elif len(values) != element["channels"]:
            what = f"it needs {element['channels']} numbers, one for each channel of {of}"
            yield Problem("aeon-rule", name, what)
