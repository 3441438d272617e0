"""The random parameters of a picture with objects: an expansion, and patches around objects."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.augment import Augmentation, Expansion, Parameters
from exset.runtime.aeon.provision.boxes import corners
from exset.runtime.aeon.provision.crop import Box, Single, Size, half_away
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.objects import Boxes, Objects

_TOLERANCE: Final = Single(1e-5)
_WHOLE_PICTURES: Final = ("batch_sampler", "head", {"max_sample": 100})
_MEASURES: Final = ("jaccard_overlap", "sample_coverage", "object_coverage")


@dataclass(frozen=True)
class Sampler:
    """Draws patches (boxes in a picture) by the settings of an object in `batch_samplers`.

    A sampler keeps a patch if one of the objects' boxes meets all limits, or if there are no
    limits.
    """

    max_sample: int
    max_trials: int
    scale: tuple[float, float]
    aspect_ratio: tuple[float, float]
    limits: tuple[tuple[float | None, float | None], ...]
    """The lowest and the highest value of each measure; None for no limit."""

    @classmethod
    def of(cls, settings: Settings) -> "Sampler":
        """Return the sampler from its object in a checked configuration."""
        [sampler] = settings.objects("sampler") or (Settings("sampler", settings.dialect, {}),)
        given = settings.objects("sample_constraint")
        limits = [
            (_limit(given, f"min_{measure}"), _limit(given, f"max_{measure}"))
            for measure in _MEASURES
        ]
        most, trials = settings.number("max_sample"), settings.number("max_trials")
        ratio = sampler.pair("aspect_ratio")
        return cls(most, trials, sampler.pair("scale"), ratio, tuple(limits))

    def patches(self, draws: Draws, boxes: Boxes) -> Iterator[NDArray[np.float32]]:
        """Yield the patches that the sampler keeps, as [xmin, ymin, xmax, ymax].

        boxes: the boxes of the objects. All coordinates are from 0 to 1.
        """
        found = 0
        for _ in range(self.max_trials):
            if found >= self.max_sample:
                break
            patch = self._patch(draws)
            if self._is_good(patch, boxes):
                found += 1
                yield patch

    def _patch(self, draws: Draws) -> NDArray[np.float32]:
        one = Single(1)
        scale = draws.real(*self.scale)
        low, high = self.aspect_ratio
        square = scale * scale
        aspect = draws.real(max(Single(low), square), min(Single(high), one / square))
        root = np.sqrt(aspect)
        width, height = scale * root, scale / root
        x, y = draws.real(0, one - width), draws.real(0, one - height)
        return np.array([x, y, x + width, y + height], np.float32)

    def _is_good(self, patch: NDArray[np.float32], boxes: Boxes) -> bool:
        if all(limit == (None, None) for limit in self.limits):
            return True
        low, high = np.maximum(boxes[:, :2], patch[:2]), np.minimum(boxes[:, 2:], patch[2:])
        common = (high - low).clip(min=0).prod(axis=1)
        own, others = (patch[2:] - patch[:2]).prod(), (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            measures = (common / (own + others - common), common / own, common / others)
        good = np.ones(len(boxes), np.bool_)
        for values, (least, most) in zip(measures, self.limits, strict=True):
            if least is not None:
                good &= values >= Single(least)
            if most is not None:
                good &= values <= Single(most)
        return bool(good.any())


def _limit(constraint: tuple[Settings, ...], name: str) -> float | None:
    for each in constraint:
        value = each[name]
        return float(value) if isinstance(value, int | float) else None
    return None


@dataclass(frozen=True)
class ObjectAugmentation:
    """Draws the parameters of pictures with objects, as aeon does for localization_ssd."""

    picture: Augmentation
    expand_probability: float
    expand_ratio: tuple[float, float]
    samplers: tuple[Sampler, ...]

    @classmethod
    def of(cls, settings: Settings, picture: Augmentation) -> "ObjectAugmentation":
        """Make the augmentation from an augmentation object of type `image`.

        picture: the `Augmentation` that was made from the same object.
        """
        listed = settings["batch_samplers"]
        # A null is a sampler of whole pictures.
        samplers = [
            Sampler.of(each if isinstance(each, Settings) else Settings(*_WHOLE_PICTURES))
            for each in (listed if isinstance(listed, tuple) else ())
        ]
        probability, ratio = settings.real("expand_probability"), settings.pair("expand_ratio")
        return cls(picture, probability, ratio, tuple(samplers))

    def drawn(self, draws: Draws, objects: Objects, wanted: Size) -> Parameters:
        """Draw the parameters of a picture with objects. wanted: the size of the output.

        Raises FormatError for boxes outside the picture.
        """
        source = objects.size
        plain = self.picture.drawn(draws, source, wanted)
        expansion = self._expansion(draws, source)
        canvas = source if expansion is None else expansion.size
        boxes = objects.boxes
        if expansion is not None:
            boxes = boxes + corners(expansion.x, expansion.y)
        highest = boxes[:, 2:].max(axis=0, initial=0)
        if highest[0] > canvas.width or highest[1] > canvas.height:
            message = f"a box ends at ({highest[0]:g}, {highest[1]:g}), outside of the picture of"
            raise FormatError(f"{message} {canvas.width}x{canvas.height} pixels")
        compat = self.picture.compat
        space = canvas if compat else self.picture.resized(canvas)
        if not self.picture.crop_enable:
            box = self._patch(draws, boxes, canvas, space)
        elif compat or expansion is None:
            box = plain.crop
        else:
            box = plain.crop.scaled(self.picture.resized(source), space)
        if not compat:
            box = box.clamped(space)
        return replace(plain, crop=box, output=wanted, expansion=expansion)

    def _expansion(self, draws: Draws, source: Size) -> Expansion | None:
        ratio = draws.real(*self.expand_ratio)
        if draws.real() >= Single(self.expand_probability):
            return None
        u, v = draws.real(), draws.real()
        if ratio <= 1:
            return None
        width, height = ratio * Single(source.width), ratio * Single(source.height)
        x, y = u * (width - Single(source.width)), v * (height - Single(source.height))
        return Expansion(Size(int(width), int(height)), int(x), int(y))

    def _patch(self, draws: Draws, boxes: Boxes, canvas: Size, space: Size) -> Box:
        """Draw a patch. Return it as a box in a picture of the size `space`.

        canvas: the size of the picture, perhaps expanded, to which the coordinates of `boxes`
        refer.
        """
        if not self.samplers:
            return Box(0, 0, *space)
        normalized = boxes.copy()
        normalized[:, 2:] += Single(1)
        normalized /= corners(canvas.width, canvas.height)
        if (normalized < -_TOLERANCE).any() or (normalized > 1 + _TOLERANCE).any():
            raise FormatError("a box is outside of the picture")
        found = [patch for each in self.samplers for patch in each.patches(draws, normalized)]
        if not found:
            return Box(0, 0, *space)
        left, upper, right, lower = found[draws.integer(0, len(found) - 1)]
        width, height = Single(space.width), Single(space.height)
        return Box(
            half_away(left * width),
            half_away(upper * height),
            half_away((right - left) * width),
            half_away((lower - upper) * height),
        )
