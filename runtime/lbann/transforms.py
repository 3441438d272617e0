"""What is to be done with each field, from its merged metadata.

Everything that can be told without the data is told here. Where LBANN is stricter than its own
manual the meaning is plain, and exset does it with a finding; with `compat="lbann"` it is an error.
LBANN, data_reader_HDF5.cpp: load_sample, normalize, coerce, repack_image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeAlias

from exset.core.errors import Findings, FormatError
from exset.core.text import counted
from exset.grammars.lbann.schema import HWC, Value
from exset.grammars.lbann.schema_findings import finding_at
from exset.runtime.lbann.merged_schema import Field, Given

Compat: TypeAlias = Literal["lbann"] | None

COERCE: Final[Mapping[str, str]] = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "long": "int64",
    "int64": "int64",
}
"""The words of `coerce` that LBANN takes, and the types that they mean."""

_PLAINER: Final = {"float32": "float", "float64": "double", "int32": "int"}
_LAST: Final = ("hwc", "dhwc")
_FIRST: Final = ("chw", "cdhw")


@dataclass(frozen=True)
class Recipe:
    """What is done with a field, in this order; what is None or False is not done.

    coerce: the type to convert to; scale and bias: one value, or one for each of `channels`, which
    change fastest; repack: move channels from last to first; pack: the group to append to, at
    `ordering`, without one after all that have one. dims: the extents of one channel.
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
    def wants_reals(self) -> str | None:
        """The directive that only float32 and float64 can be given to, if there is one."""
        if self.scale is not None:
            return "scale" if "scale" in self.field.metadata else "bias"
        return "transpose" if self.repack else "pack" if self.pack is not None else None


def doubt(
    what: str, hint: str, given: Given | None, field: Field, compat: Compat, findings: Findings
) -> None:
    """Add a finding of what LBANN refuses; with `compat` it is a FormatError."""
    place = field.place if given is None else given.place
    found = finding_at("lbann-refuses", place, what=f"{what} ({field.name})", hint=hint)
    if compat is not None:
        raise FormatError(
            f"LBANN fails on this: {what} ({field.name})",
            place=place,
            hint=hint,
            code="lbann-refuses",
        )
    findings.add(found)


def recipe(field: Field, compat: Compat = None, findings: Findings | None = None) -> Recipe:
    """Return what the merged metadata of a field ask for.

    Raises FormatError for directives that LBANN cannot follow either, and with `compat` for all
    that it cannot.
    """
    return _Cook(field, compat, Findings() if findings is None else findings).recipe()


class _Cook:
    """Reads the directives of one field."""

    def __init__(self, field: Field, compat: Compat, findings: Findings) -> None:
        self._field = field
        self._metadata = field.metadata
        self._compat = compat
        self._findings = findings

    def recipe(self) -> Recipe:
        channels = self._channels()
        dims = self._dims(channels)
        scale, bias = self._scale(channels), self._bias(channels)
        if scale is None and bias is not None:
            hint = "add `scale: 1.0`"
            self._doubt("bias without scale", hint, self._metadata["bias"])
            scale = (1.0,) * (channels or 1)
        if scale is not None and (channels or 1) > 1:
            self._check_channels_last()
        pack, ordering = self._pack()
        return Recipe(
            self._field,
            coerce=self._coerce(),
            scale=scale,
            bias=(0.0,) * len(scale or "-") if bias is None else bias,
            repack=self._repack(channels, dims),
            pack=pack,
            ordering=ordering,
            channels=channels,
            dims=dims,
        )

    def _channels(self) -> int | None:
        given = self._metadata.get("channels")
        if given is None:
            return None
        channels = self._whole(given)
        if channels < 1:
            self._refuse(given, "channels must be 1 or more")
        return channels

    def _dims(self, channels: int | None) -> tuple[int, ...]:
        given = self._metadata.get("dims")
        if given is None:
            if channels is not None:
                hint = "add dims, the extents of one channel"
                self._refuse(self._metadata["channels"], "channels without dims", hint)
            return ()
        values = _listed(given.value)
        dims = tuple(value for value in values if isinstance(value, int) and value > 0)
        if len(dims) == len(values):
            return dims
        if channels is not None:
            self._refuse(given, "dims must be whole numbers from 1")
        hint = "write whole numbers from 1"
        self._trap("lbann-unused", given, name="dims", why="they are no extents", hint=hint)
        return ()

    def _coerce(self) -> str | None:
        given = self._metadata.get("coerce")
        if given is None:
            return None
        word = given.value
        if isinstance(word, str) and word in COERCE:
            return COERCE[word]
        if isinstance(word, str) and word in _PLAINER:
            self._doubt(f"coerce: {word}", f"write `coerce: {_PLAINER[word]}`", given)
            return word
        self._refuse(given, f"cannot coerce to {word!r}", f"LBANN knows {', '.join(COERCE)}")

    def _scale(self, channels: int | None) -> tuple[float, ...] | None:
        given = self._metadata.get("scale")
        if given is None:
            return None
        values = self._reals(given)
        if channels is None:
            return self._one(given, values)
        if len(values) != channels:
            hint = "give one for each channel" if channels > 1 else "give one"
            said = f"{counted(len(values), 'value')} of scale for {counted(channels, 'channel')}"
            self._refuse(given, said, hint)
        return values

    def _bias(self, channels: int | None) -> tuple[float, ...] | None:
        given = self._metadata.get("bias")
        if given is None:
            return None
        values = self._reals(given)
        if channels is None:
            return self._one(given, values)
        if len(values) < channels:
            said = f"{counted(len(values), 'value')} of bias for {counted(channels, 'channel')}"
            hint = "give one for each channel: LBANN reads on into other memory"
            self._refuse(given, said, hint)
        if len(values) > channels:
            hint = f"give one for each of the {channels} channels"
            self._trap("lbann-unused", given, name="bias", why="of its last values", hint=hint)
        return values[:channels]

    def _check_channels_last(self) -> None:
        given = self._metadata.get("scale") or self._metadata["bias"]
        layout = self._metadata.get("layout")
        if layout is not None and layout.value in _FIRST:
            hint = "scales of several channels are for channels-last data: coerce and scale before"
            if HWC not in self._metadata:
                self._refuse(layout, f"scales of channels, and layout: {layout.value}", hint)
            why = f"with {HWC} the scales are those of channels-last data"
            self._trap("lbann-unused", layout, name="layout", why=why, hint=hint)
        if HWC not in self._metadata:
            what = f"scales of several channels without a key {HWC}; `layout` does not count"
            hint = f"add `{HWC}: 1`; the channels are taken to be the last dimension"
            self._doubt(what, hint, given)

    def _repack(self, channels: int | None, dims: tuple[int, ...]) -> bool:
        layout, transpose = self._metadata.get("layout"), self._metadata.get("transpose")
        if channels == 1:
            return False
        for given, words in ((layout, (*_LAST, *_FIRST)), (transpose, _FIRST)):
            if given is not None and given.value not in words:
                why = f"{given.value!r} is none of {', '.join(words)}"
                hint = "mend the word: capitals count"
                self._trap("lbann-unused", given, name=given.name, why=why, hint=hint)
        if transpose is None or transpose.value not in _FIRST:
            return False
        if layout is None or layout.value not in _LAST:
            hint = "say `layout: hwc` or `layout: dhwc` if the data are channels-last"
            why = "the layout is not channels-last"
            self._trap("lbann-unused", transpose, name="transpose", why=why, hint=hint)
            return False
        if channels is None:
            why, hint = "there are no channels", "say how many channels there are"
            self._trap("lbann-unused", transpose, name="transpose", why=why, hint=hint)
            return False
        if len(dims) not in (2, 3):
            hint = "give rows and columns, or depth, rows and columns, of one channel"
            self._refuse(
                transpose, f"{counted(len(dims), 'dim')}: only 2 and 3 can be transposed", hint
            )
        return True

    def _pack(self) -> tuple[str | None, int | None]:
        given, ordering = self._metadata.get("pack"), self._metadata.get("ordering")
        if given is None:
            return None, None
        if not isinstance(given.value, str):
            hint = "name the group; what looks like a number is one, quotes or not"
            self._refuse(given, "pack must be a name", hint)
        if ordering is None:
            hint = "add an ordering; here the field comes after those that have one"
            self._doubt("pack without ordering", hint, given)
            return given.value, None
        return given.value, self._whole(ordering)

    def _one(self, given: Given, values: tuple[float, ...]) -> tuple[float, ...]:
        if len(values) > 1:
            hint = "say how many channels there are"
            self._trap("lbann-first-value", given, name=given.name, hint=hint)
        return values[:1]

    def _reals(self, given: Given) -> tuple[float, ...]:
        values = _listed(given.value)
        reals = tuple(float(value) for value in values if isinstance(value, int | float))
        if not reals or len(reals) < len(values):
            hint = "write one with a point, such as 0.5, or several as [0.5, 1.0]"
            self._refuse(given, f"{given.name} must be a real number, or a list of them", hint)
        if isinstance(values[0], int):
            hint = "write them with a point, such as 3.0"
            self._doubt(f"whole numbers as {given.name}", hint, given)
        return reals

    def _whole(self, given: Given) -> int:
        values = _listed(given.value)
        number = values[0] if values else None
        if not isinstance(number, int):
            self._refuse(given, f"{given.name} must be a whole number", "write one, such as 10")
        if len(values) > 1:
            hint = "give one"
            self._trap("lbann-first-value", given, name=given.name, hint=hint)
        return number

    def _refuse(self, given: Given, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(
            f"{message} ({self._field.name})",
            place=given.place,
            hint=hint,
            code=f"schema-{given.name}",
        )

    def _doubt(self, what: str, hint: str, given: Given) -> None:
        doubt(what, hint, given, self._field, self._compat, self._findings)

    def _trap(self, code: str, given: Given, **words: object) -> None:
        self._findings.add(finding_at(code, given.place, **words))


def _listed(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)
