"""The verbs: load, loads, save, dumps, validate, stats, detect. Others have modules of their own.

A path may be `-` for standard input or output, `exset::NAME` for a bundled sample, the name of a
file elsewhere, and may end in `.gz` or another suffix of compression: see `exset.io.files`. Bytes
that are not of a format raise FormatError, whatever they are; a file that cannot be opened raises
OSError.
"""

import os
from typing import TypeVar, overload

from exset import formats, samples
from exset.core.errors import Findings, FormatError, NamedFindings, Place, blaming, heard, warn
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, Option, Summary
from exset.core.source import Source
from exset.families.format import Format
from exset.io import files
from exset.io.access import USUAL, Access
from exset.io.files import FilePath

M = TypeVar("M", bound=Model)


@overload
def load(
    path: FilePath,
    *,
    model: type[M],
    format: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> M: ...
@overload
def load(
    path: FilePath,
    *,
    model: None = None,
    format: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> Model: ...
def load(
    path: FilePath,
    *,
    model: type[M] | None = None,
    format: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> Model:
    """Read a file; the format is told from its contents and name unless `format` says it.

    `model`: the class of model that is wanted, such as `ExampleSet`, which a type checker then
    knows of; a file of another is a FormatError. Traps of the format are added to `findings`;
    without it, one FormatWarning tells of them. With `strict` the first trap is a FormatError.
    `engine`: "reference" has the library run that the grammar or layout is declared in, "table"
    the tables made of it; both give the same. `options` are those of the format's reader: `ids` of
    a sample list ("text" or "integer"), `dialect` of a manifest ("head", "seed" or "csv") or of a
    loader configuration. Raises FormatError, LimitError and OSError, and TypeError for what is no
    option.
    """
    told, engine = heard(strict, findings), formats.engine(engine)
    known = _asked(format)
    source = read_source(path, limits=limits)
    known = _wanted(known or recognise(source), model, source)
    read = known.read(source, limits=limits, findings=told, engine=engine, **options)
    if findings is None:
        warn(told, 3)
    return read


@overload
def loads(
    data: bytes | bytearray | memoryview | str,
    *,
    model: type[M],
    format: str | None = None,
    name: str = "<bytes>",
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> M: ...
@overload
def loads(
    data: bytes | bytearray | memoryview | str,
    *,
    model: None = None,
    format: str | None = None,
    name: str = "<bytes>",
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> Model: ...
def loads(
    data: bytes | bytearray | memoryview | str,
    *,
    model: type[M] | None = None,
    format: str | None = None,
    name: str = "<bytes>",
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> Model:
    """Read what a file would hold, uncompressed; `name` stands for the file's in messages.

    Otherwise as `load`; a string is taken as UTF-8.
    """
    told, engine = heard(strict, findings), formats.engine(engine)
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    source = Source(name, bytes(data))
    known = _wanted(recognise(source, format), model, source)
    read = known.read(source, limits=limits, findings=told, engine=engine, **options)
    if findings is None:
        warn(told, 3)
    return read


def save(
    model: Model,
    path: FilePath,
    *,
    format: str | None = None,
    name: str | None = None,
    findings: Findings | None = None,
    **options: Option,
) -> None:
    """Write a file, whole or not at all; the suffix tells the format unless `format` says it.

    Options: `lossy` (write what the format can hold, and say in `findings` what it cannot); for
    Lens text `compact` and `unshare` (copy what inputs and targets share, where text cannot say
    it); for sample lists `expand` (ids one by one, no ranges), `kind` (write a list of another
    kind, such as "CONDUIT_HDF5_EXCLUSION"), `labels` (its label file), `base` (the folder that its
    base directory counts from) and `root` (the folder that its files must lie in); for manifests
    and loader configurations `dialect` (write it for another version of aeon), for these `compact`,
    too. Raises FormatError for what the format cannot hold, in which `name` stands for the model,
    OSError, and TypeError for what is no model, no path or no option.
    """
    path = os.fsdecode(path)
    known = target_format(path, format)
    files.write(path, _written(model, known, name, findings, options))


def dumps(
    model: Model,
    *,
    format: str,
    name: str | None = None,
    findings: Findings | None = None,
    **options: Option,
) -> bytes:
    """Return the bytes that `save` would write, uncompressed; options as there."""
    return _written(model, formats.get(format), name, findings, options)


def validate(
    path: FilePath,
    *,
    format: str | None = None,
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    check_files: bool = False,
    base: FilePath = "",
    access: Access = USUAL,
    jobs: int = 1,
    **options: Option,
) -> Findings:
    """Read a file for its findings alone; what makes it unreadable is the last of them.

    `check_files`: look at the files that it names, too, `jobs` processes at a time; relative
    names count from the folder `base`, by default the current one; `access` says what may be done
    to get at them, such as which folders they must lie in. `options` are those of `load`.
    Raises OSError for a file that cannot be opened, and no FormatError.
    """
    findings, name = Findings(), os.fsdecode(path)
    try:
        model = load(
            path,
            model=None,
            format=format,
            strict=False,
            limits=limits,
            findings=findings,
            engine=engine,
            **options,
        )
        if check_files:
            family = formats.family_of(model)
            family.check_files(
                model,
                findings,
                name=name,
                base=os.fsdecode(base),
                access=access,
                jobs=jobs,
                limits=limits,
            )
    except FormatError as error:
        findings.add(error.finding)
    return findings


def stats(model: Model) -> Summary:
    """Return all that can be said of a model in numbers: `rows()` for people, `to_dict()` for JSON.

    TypeError for what is no model.
    """
    return formats.family_of(model).describe(model)


def detect(path: FilePath) -> Format:
    """Tell a file's format by magic, else by its suffix, else by its first bytes.

    No more is read than that takes. Raises FormatError that lists the candidates where none or
    several fit, and OSError.
    """
    name = os.fsdecode(path)
    if name.startswith(samples.PREFIX):
        return recognise(samples.read(name))
    return recognise(files.head(name, formats.HEAD))


def recognise(source: Source, format: str | None = None) -> Format:
    """Return the format to read a source as: the one said, else the one that it looks like."""
    if format is not None:
        return formats.get(format)
    return formats.detect(bytes(source.view[: formats.HEAD]), source.name)


def parted(
    options: dict[str, Option], wanted: Format
) -> tuple[dict[str, Option], dict[str, Option]]:
    """Return the options that only a reader takes, and those of the format that is written."""
    names = {name for known in formats.every() for name in known.read_options}
    names -= set(wanted.options)
    return (
        {name: value for name, value in options.items() if name in names},
        {name: value for name, value in options.items() if name not in names},
    )


def convertible(known: Format, wanted: Format, source: Source) -> Format:
    """Return the format of a source that is to be written as another.

    Raises FormatError if no file of the wanted format can say what the source does.
    """
    if known.family != wanted.family:
        others = (each.name for each in formats.of_family(known.family))
        raise FormatError(
            f"{known.family.noun}s cannot be written as {wanted.name} ({wanted.title})",
            place=Place.of(source.name),
            hint=f"formats that can hold one: {', '.join(others)}",
            code="format",
        )
    return known


def read_source(path: FilePath, *, limits: Limits = DEFAULT) -> Source:
    """Return the uncompressed bytes of a file, of `-`, or of a bundled sample `exset::NAME`."""
    name = os.fsdecode(path)
    if name.startswith(samples.PREFIX):
        return samples.read(name)
    return files.read(name, limits=limits, maps=formats.maps)


def target_format(path: FilePath, format: str | None = None) -> Format:
    """Return the format to write a path in: the one said, else the one of its suffix.

    Raises FormatError for a suffix that no format has.
    """
    if format is not None:
        return formats.get(format)
    name = os.fsdecode(path)
    known = formats.by_suffix(name)
    if known is None:
        suffixes = ", ".join(suffix for each in formats.every() for suffix in each.suffixes)
        raise FormatError(
            "its name does not say which format to write",
            place=Place.of(name),
            hint=f"end it in one of {suffixes}, or say --to NAME, or format=NAME in Python",
            code="format",
        )
    return known


def _asked(format: str | None) -> Format | None:
    """Return the format that was said, if one was; ValueError if there is none of that name."""
    return None if format is None else formats.get(format)


def _wanted(known: Format, model: type[Model] | None, source: Source) -> Format:
    """Return a source's format; FormatError if its models are not of the class that is wanted."""
    if model is not None and not issubclass(known.family.model, model):
        nouns = {
            each.family.noun for each in formats.every() if issubclass(each.family.model, model)
        }
        wanted = " or ".join(sorted(nouns)) or model.__name__
        raise FormatError(
            f"it holds {known.family.noun}s ({known.title}); wanted: {wanted}",
            place=Place.of(source.name),
            hint="if it is one, say its format with --from NAME, or format=NAME in Python",
            code="format",
        )
    return known


def _written(
    model: Model,
    known: Format,
    name: str | None,
    findings: Findings | None,
    options: dict[str, Option],
) -> bytes:
    """Return a model's bytes, with a warning for findings that nobody else hears."""
    name = known.family.noun if name is None else name
    heard = Findings() if findings is None else findings
    models = {each.family.noun for each in formats.every()}
    with blaming(name, *models):
        data = known.write(model, findings=NamedFindings(name, models, heard), **options)
    if findings is None:
        warn(heard, 4)
    return data
