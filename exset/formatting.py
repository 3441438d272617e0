"""`canonical`: give a file canonical white space, and keep its comments and its meaning."""

from collections.abc import Mapping

from exset import api, formats
from exset.core.callers import public
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, OptionValue
from exset.core.source import Source
from exset.families.format import Format


@public
def canonical(
    data: bytes | str,
    *,
    format: str | None = None,
    name: str = "<bytes>",
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    **options: OptionValue,
) -> bytes:
    """Return the content of a file with canonical white space, as `exset fmt` writes it.

    Words, numbers and comments stay unchanged and in order. If the result is loaded, it gives an
    equal model and the same findings. The arguments are those of `loads`. Raises FormatError for a
    text that exset cannot read, and for a format without a canonical text.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    source, engine = Source(name, bytes(data)), formats.engine(engine)
    fmt = api.recognise(source, format)
    return canonical_text(source, fmt, limits=limits, engine=engine, options=options)


def canonical_text(
    source: Source,
    fmt: Format,
    *,
    limits: Limits,
    engine: Engine,
    options: Mapping[str, OptionValue],
) -> bytes:
    """Return the canonical text of a source of the format `fmt`, as `canonical` does."""
    if fmt.canonical is None:
        message = f"the format {fmt.name} ({fmt.title}) has no canonical text"
        those = ", ".join(each.name for each in formats.all_formats() if each.canonical)
        place, hint = Place(source.name), f"the formats that have one are {those}"
        raise FormatError(message, place=place, hint=hint, code="format")

    def read(source: Source) -> tuple[Model, list[tuple[str, str]]]:
        findings = Findings()
        how = {"limits": limits, "findings": findings, "engine": engine}
        model = fmt.read(source, **how, **options)  # type: ignore[arg-type]
        return model, sorted((each.code, each.message) for each in findings)

    before = read(source)
    text = fmt.canonical_text(source, limits=limits, engine=engine, **options)
    if text != source.data and read(Source(source.name, text)) != before:
        message = "exset cannot write the canonical text of this file without changing its meaning"
        hint = "the file is unchanged; please report it to the authors of exset"
        raise FormatError(message, place=Place(source.name), hint=hint, code="format")
    return text
