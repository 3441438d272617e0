"""Derive the transform of each field from the field's merged metadata, without reading data."""

from dataclasses import dataclass

from exset.core.errors import Findings
from exset.core.text import counted
from exset.runtime.lbann.directives import CHANNELS_FIRST, CHANNELS_LAST, Compat, Directives
from exset.runtime.lbann.merged_schema import Field


@dataclass(frozen=True)
class FieldTransform:
    """The steps of a field, in this order. A step that is None or False is skipped.

    coerce: the target dtype. scale and bias: one value, or one for each of `channels`. Channels are
    the last axis. repack: move channels from the last axis to the first. pack: the group to which
    the field is appended, sorted by `ordering`; fields without ordering come last. dims: the shape
    of one channel.
    """

    field: Field
    coerce: str | None = None
    scale: tuple[float, ...] | None = None
    bias: tuple[float, ...] = (0.0,)
    repack: bool = False
    pack: str | None = None
    ordering: int | None = None
    channels: int | None = None
    dims: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name of the field."""
        return self.field.name

    @property
    def float_directive(self) -> str | None:
        """The first directive that requires float32 or float64 values, or None."""
        if self.scale is not None:
            return "scale" if "scale" in self.field.metadata else "bias"
        return "transpose" if self.repack else "pack" if self.pack is not None else None


class TransformBuilder:
    """Makes the transform of one field from the directives that apply to it."""

    def __init__(self, field: Field, compat: Compat, findings: Findings) -> None:
        self._field = field
        self._metadata = field.metadata
        self._directives = Directives(field.name, field.metadata, compat, findings)

    def build(self) -> FieldTransform:
        """Return the transform that the merged metadata of the field describe.

        Raises FormatError for directives that cannot work; with `compat`, also for all directives
        that LBANN rejects.
        """
        directives = self._directives
        channels = directives.channels()
        dims = self._dims(channels)
        scale, bias = self._factors("scale", channels), self._factors("bias", channels)
        if scale is None and bias is not None:
            hint = "add `scale: 1.0`"
            directives.refuse("bias without scale", hint, self._metadata["bias"])
            scale = (1.0,) * (channels or 1)
        if scale is not None and (channels or 1) > 1:
            self._check_channels_last()
        pack, ordering = self._pack()
        return FieldTransform(
            self._field,
            coerce=directives.dtype(),
            scale=scale,
            bias=(0.0,) * len(scale or "-") if bias is None else bias,
            repack=self._repack(channels, dims),
            pack=pack,
            ordering=ordering,
            channels=channels,
            dims=dims,
        )

    def _dims(self, channels: int | None) -> tuple[int, ...]:
        if channels is not None and "dims" not in self._metadata:
            hint = "add dims, the shape of one channel"
            self._directives.fail(self._metadata["channels"], "channels needs dims", hint)
        return self._directives.dims()

    def _factors(self, name: str, channels: int | None) -> tuple[float, ...] | None:
        """Return the values of the directive `name`, which is scale or bias.

        channels: the number of values, one for each channel. If None, return only the first value.
        """
        values = self._directives.factors(name, channels)
        if values is None or channels is not None:
            return values
        if len(values) > 1:
            self._directives.first_value(self._metadata[name], "add `channels`")
        return values[:1]

    def _check_channels_last(self) -> None:
        directives, directive = self._directives, self._metadata.get("scale")
        layout = self._metadata.get("layout")
        if layout is not None and layout.value in CHANNELS_FIRST:
            hint = "a scale for each channel works only on channels-last data"
            if "hwc" not in self._metadata:
                message = f"a scale for each channel does not fit `layout: {layout.value}`"
                directives.fail(layout, message, hint)
            directives.unused(layout, "with hwc, LBANN reads the data as channels-last", hint)
        if "hwc" not in self._metadata:
            what = (
                "a scale for each channel without the directive `hwc`; `layout` does not replace it"
            )
            hint = "add `hwc: 1`; the channels are then the last axis"
            directives.refuse(what, hint, directive or self._metadata["bias"])

    def _repack(self, channels: int | None, dims: tuple[int, ...]) -> bool:
        directives = self._directives
        layout, transpose = self._metadata.get("layout"), self._metadata.get("transpose")
        if channels == 1:
            return False
        directives.check_word("layout")
        directives.check_word("transpose")
        if transpose is None or transpose.value not in CHANNELS_FIRST:
            return False
        if layout is None or layout.value not in CHANNELS_LAST:
            hint = "add `layout: hwc` or `layout: dhwc` if the data are channels-last"
            directives.unused(transpose, "the layout is not channels-last", hint)
            return False
        if channels is None:
            directives.unused(transpose, "there is no channels directive", "add `channels`")
            return False
        if len(dims) not in (2, 3):
            message = f"cannot transpose a field with {counted(len(dims), 'dim')}, only with 2 or 3"
            hint = "write dims as [rows, columns] or [depth, rows, columns] of one channel"
            directives.fail(transpose, message, hint)
        return True

    def _pack(self) -> tuple[str | None, int | None]:
        name = self._directives.pack()
        if name is None:
            return None, None
        if "ordering" not in self._metadata:
            hint = "add an ordering; exset appends this field after those that have one"
            self._directives.refuse("pack without ordering", hint, self._metadata["pack"])
        return name, self._directives.ordering()
