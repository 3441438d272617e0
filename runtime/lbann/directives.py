"""Read the values of directives as LBANN does, and check the directives of a schema.

If LBANN is stricter than its own manual, exset follows the manual and adds a finding. With
`compat="lbann"` it raises an error instead. LBANN: data_reader_HDF5.cpp, load_sample, normalize,
coerce and repack_image.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, Literal, NoReturn, TypeAlias

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.suggestions import nearest
from exset.core.text import counted
from exset.grammars.lbann.schema import DIRECTIVES, Node, Path, Schema, Value, path_text
from exset.grammars.lbann.schema_findings import finding_at
from exset.runtime.lbann.merged_schema import MergedDirective

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
CHANNELS_LAST: Final = ("hwc", "dhwc")
CHANNELS_FIRST: Final = ("chw", "cdhw")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "layout": (*CHANNELS_LAST, *CHANNELS_FIRST),
    "transpose": CHANNELS_FIRST,
}


def add_refusal(
    what: str, hint: str, field: str, place: Place | None, compat: Compat, findings: Findings
) -> None:
    """Add a finding for a problem that LBANN rejects. With `compat`, raise the finding as
    FormatError.

    what: the problem. hint: what to do. field: the field that has the problem.
    """
    finding = finding_at("lbann-refuses", place, what=what, hint=hint)
    finding = replace(finding, message=f"{field}: {finding.message}")
    if compat is not None:
        raise error_of(finding)
    findings.add(finding)


def error_of(finding: Finding) -> FormatError:
    """Return the FormatError for a finding."""
    return FormatError.of(replace(finding, severity=Severity.ERROR))


class Directives:
    """The directives that apply to a field or a group: its own, and those of the groups around it.

    Each method raises FormatError for a value that cannot work. Other problems become findings.
    """

    def __init__(
        self,
        name: str,
        metadata: Mapping[str, MergedDirective],
        compat: Compat,
        findings: Findings,
    ) -> None:
        """Prepare to read the directives in `metadata`.

        name: of the field or group, for messages. compat: whether to fail where LBANN fails.
        """
        self.name = name
        self.metadata = metadata
        self._compat = compat
        self._findings = findings

    def check(self, name: str) -> None:
        """Check the directive `name`, as far as this is possible without the other schema."""
        match name:
            case "channels":
                self.channels()
            case "dims":
                self.dims()
            case "coerce":
                self.dtype()
            case "scale" | "bias":
                channels = self.metadata.get("channels")
                number = None if channels is None else channels.value
                self.factors(name, number if isinstance(number, int) and number > 0 else None)
            case "layout" | "transpose":
                self.check_word(name)
            case "pack":
                self.pack()
            case "ordering":
                self.ordering()

    def channels(self) -> int | None:
        """Return the number of channels, None without the directive."""
        directive = self.metadata.get("channels")
        if directive is None:
            return None
        channels = self._integer(directive)
        if channels < 1:
            self.fail(directive, "channels must be 1 or more", "write the number of channels")
        return channels

    def dims(self) -> tuple[int, ...]:
        """Return the shape of a channel, () without the directive."""
        directive = self.metadata.get("dims")
        if directive is None:
            return ()
        values = _as_tuple(directive.value)
        dims = tuple(value for value in values if isinstance(value, int) and value > 0)
        if len(dims) == len(values):
            return dims
        if "channels" in self.metadata:
            hint = "write the shape of one channel, such as [28, 28]"
            self.fail(directive, "dims must be positive integers", hint)
        self.unused(directive, "it is not a valid shape", "write positive integers")
        return ()

    def dtype(self) -> str | None:
        """Return the dtype to which `coerce` converts the field.

        Return None without the directive.
        """
        directive = self.metadata.get("coerce")
        if directive is None:
            return None
        word = directive.value
        if isinstance(word, str) and word in COERCE:
            return COERCE[word]
        if isinstance(word, str) and word in _LBANN_WORDS:
            self.refuse(f"coerce: {word}", f"write `coerce: {_LBANN_WORDS[word]}`", directive)
            return word
        hint = f"LBANN accepts {', '.join(COERCE)}"
        if isinstance(word, str) and (near := nearest(word, COERCE)) is not None:
            hint = f"did you mean {near!r}? {hint}"
        what = "coerce has no value" if word is None else f"cannot coerce to {word!r}"
        self.fail(directive, what, hint)

    def factors(self, name: str, channels: int | None) -> tuple[float, ...] | None:
        """Return the values of the directive `name`, which is scale or bias. Return None without
        the directive.

        channels: the number of values to return, one for each channel. If None, return all values.
        """
        directive = self.metadata.get(name)
        if directive is None:
            return None
        values = self._floats(directive)
        if channels is None:
            return values
        if len(values) < channels or (len(values) > channels and name == "scale"):
            hint = "write one value for each channel" if channels > 1 else "write one value"
            if name == "bias":
                hint += ": otherwise LBANN reads past the end of the list"
            has = counted(len(values), "value")
            message = f"{name} has {has}, but the field has {counted(channels, 'channel')}"
            self.fail(directive, message, hint)
        if len(values) > channels:
            hint = f"write one value for each of the {channels} channels"
            self.unused(directive, "its last values belong to no channel", hint)
        return values[:channels]

    def check_word(self, name: str) -> None:
        """Add a finding if the directive `name`, layout or transpose, has an unknown word.

        LBANN ignores such a word.
        """
        directive, words = self.metadata.get(name), _WORDS[name]
        if directive is not None and directive.value not in words:
            reason = f"{directive.value!r} is not one of {', '.join(words)}"
            self.unused(directive, reason, "correct the word; use lower case")

    def pack(self) -> str | None:
        """Return the name of the packed group to which the field belongs.

        Return None without the directive.
        """
        directive = self.metadata.get("pack")
        if directive is None:
            return None
        if not isinstance(directive.value, str):
            hint = (
                "write the name of a group; text that looks like a number is a number for LBANN,"
                " even in quotation marks"
            )
            self.fail(directive, "pack must be a name", hint)
        return directive.value

    def ordering(self) -> int | None:
        """Return the position of the field in its packed group.

        Return None without the directive.
        """
        directive = self.metadata.get("ordering")
        return None if directive is None else self._integer(directive)

    def first_value(self, directive: MergedDirective, hint: str) -> None:
        """Add a finding for a list of several values, of which LBANN uses only the first."""
        self._add("lbann-first-value", directive, hint=hint)

    def refuse(self, what: str, hint: str, directive: MergedDirective) -> None:
        """Add a finding for a value that LBANN rejects. With `compat`, raise the finding as
        FormatError.

        what: the message.
        """
        add_refusal(what, hint, self.name, directive.place, self._compat, self._findings)

    def unused(self, directive: MergedDirective, reason: str, hint: str) -> None:
        """Add a finding for a directive that has no effect. reason: why it has no effect."""
        self._add("lbann-unused", directive, reason=reason, hint=hint)

    def fail(self, directive: MergedDirective, message: str, hint: str | None = None) -> NoReturn:
        """Raise FormatError for a directive that cannot work."""
        code, message = f"schema-{directive.name}", f"{self.name}: {message}"
        raise FormatError(message, place=directive.place, hint=hint, code=code)

    def _floats(self, directive: MergedDirective) -> tuple[float, ...]:
        values = _as_tuple(directive.value)
        floats = tuple(float(value) for value in values if isinstance(value, int | float))
        if not floats or len(floats) < len(values):
            hint = "write a number with a decimal point, such as 0.5, or a list: [0.5, 1.0]"
            self.fail(directive, f"{directive.name} must be a number, or a list of numbers", hint)
        if isinstance(values[0], int):
            hint = "write it with a decimal point, such as 3.0"
            self.refuse(f"an integer as {directive.name}", hint, directive)
        return floats

    def _integer(self, directive: MergedDirective) -> int:
        values = _as_tuple(directive.value)
        number = values[0] if values else None
        if not isinstance(number, int):
            hint = "write an integer, such as 10"
            self.fail(directive, f"{directive.name} must be an integer", hint)
        if len(values) > 1:
            self.first_value(directive, "write one value")
        return number

    def _add(self, code: str, directive: MergedDirective, **words: object) -> None:
        words = {"field": self.name, "name": directive.name, **words}
        self._findings.add(finding_at(code, directive.place, **words))


class DirectiveCheck:
    """Checks the values of all directives in a schema.

    LBANN finds a wrong value only when it reads a sample.
    """

    common: Final = ()

    def __call__(self, schema: Schema, findings: Findings, *, first: int = 0) -> None:
        """Add a finding for each directive whose value cannot work, with whatever other schema.

        `first` is always 0, because a schema is not read in chunks.
        """
        for path, node, metadata in _described(schema, (), schema.root, {}):
            directives = Directives(path_text(path) or "the root", metadata, None, findings)
            for name in node.metadata:
                try:
                    directives.check(name)
                except FormatError as error:
                    findings.add(error.finding)


def _described(
    schema: Schema, path: Path, node: Node, inherited: Mapping[str, MergedDirective]
) -> Iterator[tuple[Path, Node, Mapping[str, MergedDirective]]]:
    """Yield (path, node, directives) for a node of a schema and all nodes below it.

    The directives are all that apply to the node. inherited: the directives of the nodes above
    `node`.
    """
    own = {
        name: MergedDirective(name, each.value, "data", path, schema, each.span)
        for name, each in node.metadata.items()
        if name in DIRECTIVES
    }
    metadata = {**inherited, **own}
    yield path, node, metadata
    for name, child in node.children.items():
        yield from _described(schema, (*path, name), child, metadata)


def _as_tuple(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)
