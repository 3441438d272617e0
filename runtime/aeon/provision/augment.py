"""The augmentation of pictures: its settings, and the random parameters for each record.

All reals are binary32.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

from exset.core.errors import FormatError
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision import crop
from exset.runtime.aeon.provision.crop import Box, Single, Size
from exset.runtime.aeon.provision.draws import Draws

_WHOLE: Final = Single(1)


@dataclass(frozen=True)
class Expansion:
    """A larger black picture into which the picture is put, and the offset at which it is put."""

    size: Size
    x: int = 0
    y: int = 0

    def scaled(self, before: Size, after: Size) -> "Expansion":
        """Return the expansion for the picture after a resize.

        before, after: the size of the picture before and after the resize.
        """
        box = Box(self.x, self.y, *self.size).scaled(before, after)
        width, height = max(box.width, box.x + after.width), max(box.height, box.y + after.height)
        return Expansion(Size(width, height), box.x, box.y)


@dataclass(frozen=True)
class Parameters:
    """The parameters by which the pictures of a record are changed.

    source: the size of the picture for which the parameters were drawn. short: the length to which
    the shorter side of pictures is resized before the crop; 0 means no resize. lighting: three
    values, or none.
    """

    source: Size
    crop: Box
    output: Size
    angle: int = 0
    expansion: Expansion | None = None
    short: int = 0
    padding: int = 0
    padding_offset: tuple[int, int] = (0, 0)
    brightness: Single = _WHOLE
    saturation: Single = _WHOLE
    hue: int = 0
    contrast: Single = _WHOLE
    lighting: tuple[Single, ...] = ()
    flip: bool = False

    @property
    def window(self) -> Box:
        """The crop box after it is moved by the padding; it may be partly outside the picture."""
        x, y = (offset - self.padding for offset in self.padding_offset)
        return self.crop._replace(x=self.crop.x + x, y=self.crop.y + y)


@dataclass(frozen=True)
class Augmentation:
    """The settings of an augmentation of type `image`. The methods draw parameters for pictures.

    compat: whether to copy aeon's defects. is_seed: whether to work as aeon of April 2017 did. That
    version lacks the members that have a default here.
    """

    compat: bool
    is_seed: bool
    angle: tuple[int, int]
    flip_enable: bool
    hue: tuple[int, int]
    contrast: tuple[float, float]
    brightness: tuple[float, float]
    saturation: tuple[float, float]
    lighting: tuple[float, float]
    crop_enable: bool
    center: bool
    scale: tuple[float, float]
    do_area_scale: bool
    horizontal_distortion: tuple[float, float]
    fixed_aspect_ratio: bool
    fixed_scaling_factor: float
    resize_short_size: int = 0
    interpolation_method: str = ""
    padding: int = 0
    mean: tuple[float, ...] = ()
    stddev: tuple[float, ...] = ()

    @classmethod
    def of(cls, settings: Settings, compat: bool) -> "Augmentation":
        """Make the augmentation from its object in a checked configuration.

        compat: whether to copy aeon's mistakes. Raises FormatError for padding together with a
        crop, which no version of aeon can do.
        """
        names = [each.name for each in fields(cls) if each.name in settings.members]
        members: dict[str, Any] = {name: settings[name] for name in names}
        made = cls(compat, settings.dialect == "seed", **members)
        if made.padding > 0 and made.crop_enable and not (compat and made.do_area_scale):
            hint = 'set "crop_enable": false'
            message = "padding needs whole pictures, but crop_enable is true"
            raise FormatError(message, hint=hint, code="aeon-loader")
        return made

    def drawn(self, draws: Draws, source: Size, wanted: Size) -> Parameters:
        """Draw random parameters for a picture of size `source`. wanted: the size of the output."""
        angle = draws.integer(*self.angle)
        flip = draws.coin(0.5 if self.flip_enable else 0)
        hue = draws.integer(*self.hue)
        contrast = draws.real(*self.contrast)
        brightness = draws.real(*self.brightness)
        saturation = draws.real(*self.saturation)
        resized = self.resized(source)
        offset, output = (0, 0), wanted
        if self.crop_enable:
            box = self._crop(draws, source, resized, wanted)
        else:
            whole = source if self.compat else resized
            box, output = Box(0, 0, *whole), self._uncropped(whole, wanted)
            if not self.is_seed:
                widest = 2 * self.padding
                offset = draws.integer(0, widest), draws.integer(0, widest)
        mean, deviation = self.lighting
        lit = deviation != 0
        return Parameters(
            source,
            box if self.compat else box.clamped(resized),
            output,
            angle,
            short=max(self.resize_short_size, 0),
            padding=self.padding,
            padding_offset=offset,
            brightness=brightness,
            saturation=saturation,
            hue=hue,
            contrast=contrast,
            lighting=tuple(draws.normal(mean, deviation) for _ in range(3)) if lit else (),
            flip=flip,
        )

    def adapted(self, drawn: Parameters, source: Size, wanted: Size) -> Parameters:
        """Return the parameters of one picture, changed for another picture of the same record.

        drawn: the parameters of the first picture. source: the size of the other picture. wanted:
        the size to which the crop is resized. The crop is of the same part of both pictures. With
        `compat` the parameters stay unchanged, as in aeon.
        """
        if self.compat:
            return drawn
        output = wanted if self.crop_enable else self._uncropped(self.resized(source), wanted)
        if source == drawn.source:
            return replace(drawn, output=output)
        expansion = drawn.expansion
        if expansion is not None:
            expansion = expansion.scaled(drawn.source, source)
        before = self._before_crop(drawn.source, drawn.expansion)
        after = self._before_crop(source, expansion)
        box = drawn.crop.scaled(before, after).clamped(after)
        return replace(drawn, source=source, crop=box, output=output, expansion=expansion)

    def resized(self, size: Size) -> Size:
        """Return the size of a picture after the resize of its shorter side that the settings ask
        for.
        """
        short = self.resize_short_size
        return crop.short_sized(size, short) if short > 0 else size

    def _before_crop(self, size: Size, expansion: Expansion | None) -> Size:
        """Return the size that the picture has just before it is cropped."""
        return self.resized(size if expansion is None else expansion.size)

    def _crop(self, draws: Draws, source: Size, resized: Size, wanted: Size) -> Box:
        """Draw the crop box of a picture.

        source: the picture's original size. resized: its size just before the crop. wanted: the
        size of the output.
        """
        if self.do_area_scale and not self.is_seed:
            inside = crop.extent_of(source if self.compat else resized)
            stretch = np.sqrt(draws.real(*self.horizontal_distortion))
            bound = crop.area_bound(inside, stretch)
            low, high = (min(Single(each), bound) for each in self.scale)
            extent = crop.area_box(inside, stretch, draws.real(low, high))
        else:
            inside = crop.extent_of(resized)
            share = draws.real(*self.scale)
            stretch = draws.real(*self.horizontal_distortion)
            shape = crop.Extent(Single(wanted.width) * stretch, Single(wanted.height))
            extent = crop.proportional(inside, shape)
            if self.do_area_scale:
                extent = crop.with_share(inside, extent, share)
            else:
                extent = extent.times(share)
        offsets = (0.5, 0.5) if self.center else (0.0, 1.0)
        x, y = draws.real(*offsets), draws.real(*offsets)
        return crop.placed(inside, extent, x, y, self.is_seed)

    def _uncropped(self, size: Size, wanted: Size) -> Size:
        """Return the size of the output if the whole picture is used without a crop."""
        factor = Single(self.fixed_scaling_factor)
        if factor <= 0:
            factor = crop.fitting_scale(crop.extent_of(size), wanted)
        return crop.scaled(size, factor)
