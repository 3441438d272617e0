"""Read, write and summarise the files of all formats: load, loads, save, dumps, stats, detect.

A path may be `-` for standard input or output, `exset::NAME` for a bundled sample, or a URL. It may
end in `.gz` or another compression suffix: see `exset.io.files`. Bytes that are not of the format
raise only FormatError. A file that cannot be opened raises OSError.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar, cast, overload

from exset import bridge, formats, samples, streaming
from exset.core.callers import public
from exset.core.errors import Findings, FormatError, Place, collect_findings, warn, with_source_name
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level, Model, OptionValue, Summary
from exset.core.source import Source
from exset.core.text import with_article
from exset.families.family import Family
from exset.families.format import Format
from exset.io import files, folders, together
from exset.io.files import FilePath
from exset.io.folders import Folder

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
    **options: OptionValue,
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
    **options: OptionValue,
) -> Model: ...
@public
def load(
    path: FilePath,
    *,
    model: type[M] | None = None,
    format: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    **options: OptionValue,
) -> Model:
    """Read a file, and return its model. `format` names the file's format.

    Without `format`, the file's contents and name decide the format.

    - `model`: the expected class, such as `ExampleSet`, for type checkers. A file with another kind
      of data raises FormatError.
    - `findings`: gets warnings and notes. Without `findings`, one FormatWarning reports them.
    - `strict`: raise FormatError for the first warning.
    - `engine`: "reference" runs Lark or Construct; "table" runs tables made from the grammar or
      layout. Both give the same model.
    - `options`: the options of readers: `ids` for a sample list ("text" or "integer"), `dialect`
      for a manifest ("head", "seed" or "csv") or a loader configuration.

    Raises FormatError for an invalid file, LimitError for a file above `limits`, OSError, and
    TypeError for an unknown option.
    """
    found, engine = collect_findings(strict, findings), formats.engine(engine)
    source = read_input(path, format, limits=limits)
    fmt = checked_class(recognise(source, format), model, source.name)
    read = fmt.read(source, limits=limits, findings=found, engine=engine, **options)
    if findings is None:
        warn(found)
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
    **options: OptionValue,
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
    **options: OptionValue,
) -> Model: ...
@public
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
    **options: OptionValue,
) -> Model:
    """Read the uncompressed content of a file. `name` is the file's name in messages.

    The other arguments and the errors are those of `load`. A string is encoded as UTF-8.
    """
    found, engine = collect_findings(strict, findings), formats.engine(engine)
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    source = Source(name, bytes(data))
    fmt = checked_class(recognise(source, format), model, source.name)
    read = fmt.read(source, limits=limits, findings=found, engine=engine, **options)
    if findings is None:
        warn(found)
    return read


@public
def save(
    model: Model,
    path: FilePath,
    *,
    format: str | None = None,
    name: str | None = None,
    level: Level | None = None,
    findings: Findings | None = None,
    **options: OptionValue,
) -> None:
    """Write a model to a file, completely or not at all. `format` names the file's format.

    Without `format`, the suffix of `path` decides the format. `name` is the model's name in
    messages.

    A format of another family, such as Parquet, stores the table of the model. `level` ("said" or
    "meant") is then the level of the table, as in `to_table`. By default, it is "said" if the
    format can store this level.

    Options of all formats that cannot store everything:

    - `lossy`: drop what the format cannot store, and report it in `findings`.

    Options for Lens text:

    - `compact`: use few bytes.
    - `unshare`: if inputs and targets of different events share a list of units, write the list
      twice.

    Options for sample lists:

    - `expand`: write ids one by one, without ranges.
    - `kind`: the type of the written list, such as "CONDUIT_HDF5_EXCLUSION". `labels`: its label
      file.
    - `base`: the folder to which the list's base directory is relative.
    - `root`: the folder that must contain the files of the list.

    Options for manifests and loader configurations:

    - `dialect`: write for another version of aeon.
    - `compact`: use few bytes (only for configurations).

    Raises FormatError if the format cannot store the model, OSError, and TypeError for a wrong
    model, path or option.
    """
    path = os.fsdecode(path)
    family = next((each for each in formats.families() if isinstance(model, each.model)), None)
    fmt = target_format(path, format, family=family)
    if format is None and family is not None:
        check_convertible(family, fmt, path, name or path)
    found = Findings() if findings is None else findings
    with _converted(model, fmt, name, level, found, options) as (model, named):
        if fmt.is_folder:
            with folders.writing(path) as folder:
                fmt.write_folder([model], folder, findings=named, **options)
        elif not files.is_file(path):
            files.write(path, fmt.write(model, findings=named, **options))
        elif fmt.chunk_writer is not None and fmt.companions is None:
            fmt.write_file([model], path, findings=named, **options)
        else:
            data = fmt.write(model, findings=named, **options)
            is_plain = files.is_plain(path)
            others = fmt.companions_of(model, path, findings=named, **options) if is_plain else {}
            if others:
                together.write(path, data, others)
            else:
                files.write(path, data)
    if findings is None:
        warn(found)


@public
def dumps(
    model: Model,
    *,
    format: str | None = None,
    name: str | None = None,
    level: Level | None = None,
    findings: Findings | None = None,
    **options: OptionValue,
) -> bytes:
    """Return the bytes that `save` would write, uncompressed. The options are those of `save`.

    `format`: by default the text format of the family; for blocks and archives the binary format.
    """
    fmt = formats.default_of(formats.family_of(model)) if format is None else formats.get(format)
    found = Findings() if findings is None else findings
    with _converted(model, fmt, name, level, found, options) as (model, named):
        data = fmt.write(model, findings=named, **options)
    if findings is None:
        warn(found)
    return data


@public
def stats(model: Model) -> Summary:
    """Return the statistics of a model. They have `rows()` for people, and `to_dict()` for JSON.

    Raises TypeError if the argument is not a model.
    """
    return formats.family_of(model).summarise([model], detailed=True)


@public
def detect(path: FilePath) -> Format:
    """Return the format of a file: by its magic number, else its suffix, else its first bytes.

    The format of a folder depends on the names of its files. Reads only the bytes that it needs.
    Raises OSError if the file cannot be read. Raises FormatError if no format fits or several do;
    the message lists the candidates.
    """
    name = os.fsdecode(path)
    if name.startswith(samples.PREFIX):
        return recognise(samples.read(name))
    found = streaming.folder_of(name)
    return found[1] if found else recognise(files.head(name, formats.HEAD))


def recognise(source: Source | Folder, format: str | None = None) -> Format:
    """Return the format called `format`. If `format` is None, detect the format of the source."""
    if format is not None:
        return formats.get(format)
    if isinstance(source, Folder):
        fmt = formats.detect_folder(source)
        assert fmt is not None, "read_input returns only folders of a known format"
        return fmt
    return formats.detect(bytes(source.view[: formats.HEAD]), source.name)


def check_convertible(family: Family, target: Format, path: str, source: str) -> None:
    """Raise FormatError if the format `target` cannot store models of the family.

    `path`: the file to write, if its suffix has decided the format. `source`: the name, for the
    message, of the file from which the model was read.
    """
    if bridge.can_convert(family, target):
        return
    noun, others = with_article(family.noun), bridge.targets_of(family)
    if target in formats.with_suffix(path):
        message = f"{noun} cannot be written to {path}: its suffix means {target.title}"
        hint = f"the suffixes for {noun} are {formats.suffixes(others)}"
    else:
        message = f"{noun} cannot be written in the format {target.name} ({target.title})"
        hint = f"formats that can store {noun}: {', '.join(each.name for each in others)}"
    raise FormatError(message, place=Place(source), hint=hint, code="format")


def read_input(
    path: FilePath,
    format: str | None = None,
    *,
    limits: Limits = DEFAULT,
    roots: tuple[str, ...] = (),
) -> Source | Folder:
    """Read a file as a `Source`, or open a folder of a known format as a `Folder`.

    `roots`: which files of the folder may be opened, as in `Folder`.
    """
    name = os.fsdecode(path)
    found = streaming.folder_of(name, format, limits, roots)
    return found[0] if found else read_source(name, limits=limits)


def read_whole(
    path: str, fmt: Format, options: dict[str, object], *, findings: Findings, limits: Limits
) -> Model:
    """Read a file or a folder in the format `fmt`, and return its model.

    Removes the options of the format's reader from `options`.
    """
    names = [each for each in options if fmt.option(each, reading=True)]
    reading = cast(dict[str, OptionValue], {each: options.pop(each) for each in names})
    source = read_input(path, fmt.name, limits=limits)
    return fmt.read(source, limits=limits, findings=findings, engine="auto", **reading)


def read_source(path: FilePath, *, limits: Limits = DEFAULT) -> Source:
    """Read the uncompressed bytes of a file, of `-`, or of a bundled sample `exset::NAME`."""
    name = os.fsdecode(path)
    if name.startswith(samples.PREFIX):
        return samples.read(name)
    return files.read(name, limits=limits, maps=formats.maps)


def target_format(
    path: FilePath,
    format: str | None = None,
    *,
    family: Family | None = None,
    argument: str = "format",
) -> Format:
    """Return the format called `format`. If `format` is None, the suffix of `path` decides.

    `family`: the family of the model to write; it decides among formats with the same suffix.
    `argument`: the name of `format` in messages. Raises FormatError if no format fits.
    """
    if format is not None:
        return formats.get(format)
    name = os.fsdecode(path)
    fmt = formats.by_suffix(name, family)
    if fmt is None:
        among = formats.all_formats() if family is None else formats.writers_of(family)
        message = "the name of the file does not show which format to write"
        hint = (
            f"use one of the suffixes {formats.suffixes(among)}; or <--to NAME or {argument}=NAME>"
        )
        raise FormatError(message, place=Place(name), hint=hint, code="format")
    return fmt


def checked_class(fmt: Format, model: type[Model] | None, name: str) -> Format:
    """Return the format `fmt`. Raise FormatError if its models are not of the class `model`.

    name: the name of the file.
    """
    if model is not None and not issubclass(fmt.family.model, model):
        nouns = {each.noun for each in formats.families() if issubclass(each.model, model)}
        expected = " or ".join(map(with_article, sorted(nouns))) or model.__name__
        message = f"the file holds {with_article(fmt.family.noun)} ({fmt.title}), not {expected}"
        hint = "if exset misread its format, use <--from NAME or format=NAME>"
        raise FormatError(message, place=Place(name), hint=hint, code="format")
    return fmt


@contextmanager
def _converted(
    model: Model,
    fmt: Format,
    name: str | None,
    level: Level | None,
    findings: Findings,
    options: dict[str, OptionValue],
) -> Iterator[tuple[Model, Findings]]:
    """Yield what `fmt` stores for `model`, and a collection for the findings of its writer.

    The first value is the model itself, or the result of converting it. name: the name of the model
    in findings, by default the family's. level: the level of the table, if exset converts the model
    to a table. options: the options of the writer.
    """
    name = fmt.family.noun if name is None else name
    models = {family.noun for family in formats.families()}
    with with_source_name(name, *models, findings=findings) as named:
        is_lossy = bool(options.get("lossy"))
        yield bridge.converted(model, fmt, level=level, findings=named, lossy=is_lossy), named
