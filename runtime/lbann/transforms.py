"""Derive the transform of each field from its merged metadata, without reading data.

If LBANN is stricter than its own manual, exset follows the manual and adds a finding; with
`compat="lbann"` it raises an error. LBANN: data_reader_HDF5.cpp, load_sample, normalize, coerce and
repack_image.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NoReturn, TypeAlias

from exset.core.errors import Finding, Findings, FormatError, Severity
from exset.core.text import counted
from exset.grammars.lbann.schema import Value
from exset.grammars.lbann.schema_findings import finding_at
from exset.runtime.lbann.merged_schema import Field, MergedDirective

Compat: TypeAlias = Literal["lbann"] | None

COERCE: Final[Mapping[str, str]] = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "long": "int64",
    "int64": "int64",
}
"""The words that LBANN accepts in `coerce`, and their dtypes."""

_LBANN_WORDS: Final = {"float32": "float", "float64": "double", "int32": "int"}
_CHANNELS_LAST: Final = ("hwc", "dhwc")
_CHANNELS_FIRST: Final = ("chw", "cdhw")


@dataclass(frozen=True)
class FieldTransform:
    """The steps of a field, in this order; a step that is None or False is skipped.

    coerce: the target dtype. scale and bias: one value, or one for each of `channels`, which are
    the last axis. repack: move channels from last to first. pack: the group to append to, sorted by
    `ordering`; fields without ordering come last. dims: the shape of one channel.
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


def add_refusal(
    what: str,
    hint: str,
    directive: MergedDirective | None,
    field: Field,
    compat: Compat,
    findings: Findings,
) -> None:
    """Add a finding for a problem that LBANN refuses; with `compat`, raise it as FormatError."""
    place = field.place if directive is None else directive.place
    finding = finding_at("lbann-refuses", place, what=f"{what} ({field.name})", hint=hint)
    if compat is not None:
        raise error_of(finding)
    findings.add(finding)


def error_of(finding: Finding) -> FormatError:
    """Return a finding as an error."""
    return FormatError.of(replace(finding, severity=Severity.ERROR))


class TransformBuilder:
    """Reads the directives of one field."""

    def __init__(self, field: Field, compat: Compat, findings: Findings) -> None:
        self._field = field
        self._metadata = field.metadata
        self._compat = compat
        self._findings = findings

    def build(self) -> FieldTransform:
        """Return the transform that the merged metadata of the field describe.

        Raises FormatError for directives that cannot work; with `compat`, for all that LBANN
        refuses.
        """
        channels = self._channels()
        dims = self._dims(channels)
        scale, bias = self._factors("scale", channels), self._factors("bias", channels)
        if scale is None and bias is not None:
            self._refusal("bias without scale", "add `scale: 1.0`", self._metadata["bias"])
            scale = (1.0,) * (channels or 1)
        if scale is not None and (channels or 1) > 1:
            self._check_channels_last()
        pack, ordering = self._pack()
        return FieldTransform(
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
        directive = self._metadata.get("channels")
        if directive is None:
            return None
        channels = self._integer(directive)
        if channels < 1:
            self._fail(directive, "channels must be 1 or more")
        return channels

    def _dims(self, channels: int | None) -> tuple[int, ...]:
        directive = self._metadata.get("dims")
        if directive is None:
            if channels is not None:
                hint = "add dims, the shape of one channel"
                self._fail(self._metadata["channels"], "channels without dims", hint)
            return ()
        values = _as_tuple(directive.value)
        dims = tuple(value for value in values if isinstance(value, int) and value > 0)
        if len(dims) == len(values):
            return dims
        if channels is not None:
            self._fail(directive, "dims must be positive integers")
        self._unused(directive, "it is not a valid shape", "write positive integers")
        return ()

    def _coerce(self) -> str | None:
        directive = self._metadata.get("coerce")
        if directive is None:
            return None
        word = directive.value
        if isinstance(word, str) and word in COERCE:
            return COERCE[word]
        if isinstance(word, str) and word in _LBANN_WORDS:
            self._refusal(f"coerce: {word}", f"write `coerce: {_LBANN_WORDS[word]}`", directive)
            return word
        hint = f"LBANN accepts {', '.join(COERCE)}"
        self._fail(directive, f"cannot coerce to {word!r}", hint)

    def _factors(self, name: str, channels: int | None) -> tuple[float, ...] | None:
        """Return the values of scale or bias: one for each channel, one without channels."""
        directive = self._metadata.get(name)
        if directive is None:
            return None
        values = self._floats(directive)
        if channels is None:
            if len(values) > 1:
                self._add("lbann-first-value", directive, name=name, hint="add `channels`")
            return values[:1]
        if len(values) < channels or (len(values) > channels and name == "scale"):
            hint = "write one for each channel" if channels > 1 else "write one"
            if name == "bias":
                hint += ": LBANN reads past the end of the list"
            given = f"{counted(len(values), 'value')} of {name}"
            self._fail(directive, f"{given} for {counted(channels, 'channel')}", hint)
        if len(values) > channels:
            hint = f"write one for each of the {channels} channels"
            self._unused(directive, "its last values belong to no channel", hint)
        return values[:channels]

    def _check_channels_last(self) -> None:
        directive = self._metadata.get("scale") or self._metadata["bias"]
        layout = self._metadata.get("layout")
        if layout is not None and layout.value in _CHANNELS_FIRST:
            hint = "one scale for each channel works only on channels-last data"
            if "hwc" not in self._metadata:
                self._fail(layout, f"a scale for each channel with layout: {layout.value}", hint)
            self._unused(layout, "with hwc, LBANN reads the data as channels-last", hint)
        if "hwc" not in self._metadata:
            what = "a scale for each channel without the key hwc; `layout` does not count"
            hint = "add `hwc: 1`; the channels are then the last axis"
            self._refusal(what, hint, directive)

    def _repack(self, channels: int | None, dims: tuple[int, ...]) -> bool:
        layout, transpose = self._metadata.get("layout"), self._metadata.get("transpose")
        if channels == 1:
            return False
        for directive, words in (
            (layout, (*_CHANNELS_LAST, *_CHANNELS_FIRST)),
            (transpose, _CHANNELS_FIRST),
        ):
            if directive is not None and directive.value not in words:
                reason = f"{directive.value!r} is none of {', '.join(words)}"
                self._unused(directive, reason, "correct the word; use lower case")
        if transpose is None or transpose.value not in _CHANNELS_FIRST:
            return False
        if layout is None or layout.value not in _CHANNELS_LAST:
            hint = "add `layout: hwc` or `layout: dhwc` if the data are channels-last"
            self._unused(transpose, "the layout is not channels-last", hint)
            return False
        if channels is None:
            self._unused(transpose, "there is no channels directive", "add `channels`")
            return False
        if len(dims) not in (2, 3):
            message = f"cannot transpose {counted(len(dims), 'dim')}, only 2 or 3"
            hint = "dims are rows and columns, or depth, rows and columns, of one channel"
            self._fail(transpose, message, hint)
        return True

    def _pack(self) -> tuple[str | None, int | None]:
        pack, ordering = self._metadata.get("pack"), self._metadata.get("ordering")
        if pack is None:
            return None, None
        if not isinstance(pack.value, str):
            hint = "name the group; LBANN reads text that looks like a number as one, even quoted"
            self._fail(pack, "pack must be a name", hint)
        if ordering is None:
            hint = "add an ordering; exset appends this field after those that have one"
            self._refusal("pack without ordering", hint, pack)
            return pack.value, None
        return pack.value, self._integer(ordering)

    def _floats(self, directive: MergedDirective) -> tuple[float, ...]:
        values = _as_tuple(directive.value)
        floats = tuple(float(value) for value in values if isinstance(value, int | float))
        if not floats or len(floats) < len(values):
            hint = "write a number with a decimal point, such as 0.5, or a list: [0.5, 1.0]"
            self._fail(directive, f"{directive.name} must be a number, or a list of numbers", hint)
        if isinstance(values[0], int):
            hint = "write it with a decimal point, such as 3.0"
            self._refusal(f"an integer as {directive.name}", hint, directive)
        return floats

    def _integer(self, directive: MergedDirective) -> int:
        values = _as_tuple(directive.value)
        number = values[0] if values else None
        if not isinstance(number, int):
            self._fail(directive, f"{directive.name} must be an integer", "write one, such as 10")
        if len(values) > 1:
            self._add("lbann-first-value", directive, name=directive.name, hint="write one value")
        return number

    def _fail(self, directive: MergedDirective, message: str, hint: str | None = None) -> NoReturn:
        message = f"{message} ({self._field.name})"
        place = directive.place
        raise FormatError(message, place=place, hint=hint, code=f"schema-{directive.name}")

    def _refusal(self, what: str, hint: str, directive: MergedDirective) -> None:
        add_refusal(what, hint, directive, self._field, self._compat, self._findings)

    def _unused(self, directive: MergedDirective, reason: str, hint: str) -> None:
        self._add("lbann-unused", directive, name=directive.name, reason=reason, hint=hint)

    def _add(self, code: str, directive: MergedDirective, **words: object) -> None:
        self._findings.add(finding_at(code, directive.place, **words))


def _as_tuple(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)
