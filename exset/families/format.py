"""The record of one file format: its names, its signature, its options, its reader and writer."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import BinaryIO, cast

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, OptionValue, Writer
from exset.core.source import Source
from exset.core.text import safe, with_article
from exset.families.family import Family, load
from exset.families.incremental import ChunkWriter, FolderWriter, IncrementalWriter
from exset.families.option import Option, chosen, named
from exset.io import files, sidecar
from exset.io.blocks import Blocks
from exset.io.folders import Folder, NewFolder


@dataclass(frozen=True)
class Format:
    """One file format: everything that exset knows about it.

    Functions are named as text, "module:function", and imported on first use.

    Names:

    - `suffixes`: the suffixes of file names; the usual one is first. `title`: the name for people.

    Detection:

    - `magic`: the first bytes of every file; empty if files have no common first bytes.
    - `signature`: a regular expression that the first bytes of a file match. It distinguishes
      formats that have the same magic. It must run in linear time, and also match if the bytes are
      cut at any place.
    - `only_by_suffix`: only the suffix identifies a file of this format, because another format can
      read all such files, too.
    - `other_suffixes`: suffixes of another format that files of this format also have. The
      signature distinguishes the files. exset writes no files of this format with these suffixes.
    - `recogniser`: a function that returns whether the first bytes of a file are those of this
      format. exset calls it only if several formats have the file's suffix.

    Code:

    - `reader` with its `read_options`; `writer` or `chunk_writer` with its `options`. A format that
      exset only reads has no writer.
    - `streamer` reads a file in chunks, and `incremental_writer` writes one in chunks.
    - `rereads`: the streamer reads the `file` of its `Blocks` in any order, or more than once. So
      exset first copies a pipe or a decompressed file to a temporary file.
    - `chunk_writer` writes a whole file or, if it gets chunks, a file in chunks. It may read the
      chunks more than once.
    - `parts`: a module with the functions of `PartsOf`, if several processes can work on one file
      of the format.
    - `binary`: the files must not go to a terminal.
    - `maps`: the reader maps the file into memory, and does not copy it.
    - `canonical`: a function that returns the canonical text of a source. Its arguments are those
      of the reader without `findings`.
    - `is_nested`: the format stores tables, also with lists of records. So models of other families
      are written at level "said" (see `exset.to_table`).
    - `takes`: other families whose models the writer also accepts.
    - `needs`: an optional library that the code imports.
    - `may_crash`: the reader uses a library that may crash or hang on damaged files. Other
      processes then run the reader.
    - `companions`: a function that returns other files to write with a file, by path, from a model
      and the path of the file.

    Folders:

    - `is_folder`: each input is a folder, such as a folder of shards. The reader and the streamer
      get a `Folder` in place of the bytes, and the writer is a `FolderWriter`. Such a format may
      have no suffix.
    - `contains`: patterns of names, see `Folder.has`. A folder with a name that matches a pattern
      is recognised.

    `is_partial`: the format stores only some models of its family, such as tables that are lists of
    files. `cat` does not use the format to show other models.

    `has_sidecar`: the `chunk_writer` may return the content of `NAME.exset.json`, a file next to
    the written file. It returns None if the written file itself stores everything. The reader gets
    the content as `Source.sidecar`.

    Findings:

    - `findings`: the texts that declare and explain the findings, each as "package:path"; see
      `exset.grammars.columns.findings`.
    - `repairs`: codes of findings whose mistakes the writer repairs. The written file then differs
      in meaning.

    Tests:

    - `samples`: bundled files in `exset/samples`, each with its name and a line of description.
    - `strategy`: a function that returns a Hypothesis strategy, which draws models of the format.
    """

    name: str
    title: str
    family: Family
    suffixes: tuple[str, ...]
    reader: str
    writer: str | None = None
    magic: bytes = b""
    signature: str | None = None
    only_by_suffix: bool = False
    other_suffixes: tuple[str, ...] = ()

    recogniser: str | None = None
    options: tuple[Option, ...] = ()
    read_options: tuple[Option, ...] = ()
    binary: bool = False
    maps: bool = False
    is_nested: bool = False
    is_partial: bool = False
    is_folder: bool = False
    contains: tuple[str, ...] = ()
    has_sidecar: bool = False
    may_crash: bool = False
    takes: tuple[Family, ...] = ()
    needs: str | None = None
    streamer: str | None = None
    rereads: bool = False
    incremental_writer: str | None = None
    chunk_writer: str | None = None
    parts: str | None = None
    canonical: str | None = None
    companions: str | None = None
    findings: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    samples: tuple[tuple[str, str], ...] = ()
    strategy: str | None = None

    @property
    def suffix(self) -> str:
        """The usual suffix of the format's files, with the dot. "" if folders have no suffix."""
        return self.suffixes[0] if self.suffixes else ""

    def option(self, name: str, *, reading: bool = False) -> Option | None:
        """Return an option of the writer or, if `reading`, of the reader; None if it is unknown."""
        return named(self.read_options if reading else self.options, name)

    @property
    def is_written(self) -> bool:
        """Whether exset can write the format."""
        return self.writer is not None or self.chunk_writer is not None

    def can_write(self, family: Family) -> bool:
        """Return whether the format's writer accepts models of a family."""
        return self.is_written and (family == self.family or family in self.takes)

    def recognises(self, head: bytes) -> bool:
        """Return whether the format has a recogniser that accepts the first bytes of a file."""
        if self.recogniser is None:
            return False
        return cast(Callable[[bytes], bool], self._loaded(self.recogniser))(head)

    def read(
        self,
        source: Source | Folder,
        *,
        limits: Limits = DEFAULT,
        findings: Findings | None = None,
        engine: Engine = "auto",
        **options: OptionValue,
    ) -> Model:
        """Return the model in a source. If `is_folder`, the source is a `Folder`.

        Raises FormatError if the source is not of this format, and OptionError as `chosen` does.
        """
        self._check_kind(source, source.name)
        reader = cast(Callable[..., Model], self._loaded(self.reader))
        chosen = self.chosen(options, reading=True)
        if self.has_sidecar and isinstance(source, Source):
            source = sidecar.with_metadata(source, limits)
        return reader(source, limits=limits, findings=findings, engine=engine, **chosen)

    def canonical_text(self, source: Source, **arguments: OptionValue | Limits) -> bytes:
        """Return the canonical text of a source; see `canonical`. Raises the reader's errors."""
        assert self.canonical is not None
        return cast(Callable[..., bytes], self._loaded(self.canonical))(source, **arguments)

    def write(
        self, model: Model, *, findings: Findings | None = None, **options: OptionValue
    ) -> bytes:
        """Return the bytes of a model's file. A note says what only a sidecar could store.

        Raises FormatError if the format cannot store the model, or if it is a format of folders.
        Raises TypeError for a model that the writer does not accept, and OptionError as `chosen`
        does.
        """
        if self.is_folder:
            message = f"{self.name} ({self.title}) is a folder of files, not a file"
            hint = "use exset.save or exset convert, and name a new folder"
            place = Place(self.family.noun)
            raise FormatError(message, place=place, hint=hint, code="format")
        self._check_model(model)
        if self.chunk_writer is None:
            writer = cast(Writer, self._loaded(self._writer()))
            return writer(model, findings=findings, **self.chosen(options))
        out, found = BytesIO(), Findings() if findings is None else findings
        _, beside = self.write_chunks([model], out, findings=found, **options)
        if beside is not None:
            self.add_sidecar_note(found)
        return out.getvalue()

    def add_sidecar_note(self, findings: Findings) -> None:
        """Add the note that says what is lost because no sidecar is written."""
        from exset.grammars.tables.findings import finding_at

        findings.add(finding_at("table-sidecar", Place(self.family.noun), suffix=sidecar.SUFFIX))

    def write_chunks(
        self,
        models: Iterable[Model],
        out: BinaryIO,
        *,
        findings: Findings,
        **options: OptionValue,
    ) -> tuple[int, bytes | None]:
        """Write a model that comes in chunks, with the `ChunkWriter`.

        Return the number of units, and the content of the sidecar, if any. Raises the errors of
        `write`.
        """
        assert self.chunk_writer is not None
        writer = cast(ChunkWriter, self._loaded(self.chunk_writer))
        counted = _Counted(models, self._check_model)
        beside = writer(counted, out, findings=findings, **self.chosen(options))
        return counted.count, beside

    def write_file(
        self, models: Iterable[Model], path: str, *, findings: Findings, **options: OptionValue
    ) -> int:
        """Write a file in chunks, completely or not at all, and its sidecar if it needs one.

        Return the number of units. Raises the errors of `write` and of `files.writing`.
        """
        is_local = self.has_sidecar and files.is_file(path)
        # A sidecar gets its name after its file.
        with ExitStack() as after, files.writing(path) as out:
            count, beside = self.write_chunks(models, out, findings=findings, **options)
            if beside is not None and is_local:
                named = after.enter_context(files.writing(sidecar.name_of(path)))
                named.write(beside)
                named.flush()
            elif beside is not None:
                self.add_sidecar_note(findings)
        if beside is None and is_local:
            sidecar.remove_old(path)
        return count

    def write_folder(
        self,
        models: Iterable[Model],
        folder: NewFolder,
        *,
        findings: Findings,
        **options: OptionValue,
    ) -> int:
        """Write the files of a folder; return the number of units. Raises the errors of `write`.

        models: chunks of a model, as a `ChunkWriter` gets them.
        """
        writer = cast(FolderWriter, self._loaded(self._writer()))
        counted = _Counted(models, self._check_model)
        writer(counted, folder, findings=findings, **self.chosen(options))
        return counted.count

    def _writer(self) -> str:
        if self.writer is None:
            message = f"exset can read the format {self.name} ({self.title}), but not write it"
            raise FormatError(message, place=Place(self.family.noun), code="format")
        return self.writer

    def _check_model(self, model: Model) -> None:
        """Raise TypeError for a model that the writer does not accept."""
        if not isinstance(model, tuple(family.model for family in (self.family, *self.takes))):
            expected = with_article(self.family.model.__name__)
            raise TypeError(f"the model to write must be {expected}, not {type(model).__name__}")

    def _check_kind(self, source: object, name: str) -> None:
        """Raise FormatError for a file if this format needs a folder, or the other way round."""
        if isinstance(source, Folder) != self.is_folder:
            kinds = ("a file", "a folder")
            found, needed = kinds[not self.is_folder], kinds[self.is_folder]
            message = f"this is {found}, but {self.name} ({self.title}) is {needed}"
            hint = "name the folder, or the format of the file, with <--from NAME or format=NAME>"
            raise FormatError(message, place=Place(name), hint=hint, code="format")

    def companions_of(
        self, model: Model, path: str, *, findings: Findings, **options: OptionValue
    ) -> dict[str, bytes]:
        """Return the other files to write with a file, by path. Raises the errors of `write`."""
        if self.companions is None:
            return {}
        make = cast(Callable[..., dict[str, bytes]], self._loaded(self.companions))
        return make(model, name=path, findings=findings, **self.chosen(options))

    def stream(
        self,
        blocks: Blocks | Folder,
        *,
        limits: Limits = DEFAULT,
        findings: Findings | None = None,
        engine: Engine = "auto",
        **options: OptionValue,
    ) -> Iterator[Model]:
        """Read a source in chunks: yield a model of the units in each chunk.

        blocks: the blocks of a file; if `is_folder`, a `Folder`. Raises FormatError and OptionError
        as `read` does, and FormatError if the format has no streamer.
        """
        self._check_kind(blocks, blocks.name)
        target = self._chunked(self.streamer, blocks.name)
        streamer = cast(Callable[..., Iterator[Model]], self._loaded(target))
        chosen = self.chosen(options, reading=True)
        if self.has_sidecar and isinstance(blocks, Blocks) and os.path.isfile(blocks.name):
            blocks.sidecar = sidecar.content_of(blocks.name, limits)
        read = partial(streamer, limits=limits, findings=findings, engine=engine, **chosen)
        if not self.rereads or isinstance(blocks, Folder):
            return read(blocks)
        return _kept(blocks, limits, read)

    def write_incrementally(
        self, name: str, findings: Findings, **options: OptionValue
    ) -> IncrementalWriter:
        """Return an object that writes in chunks.

        `name`: the file to write, for messages. Raises FormatError if the format has no
        incremental writer, and OptionError as `chosen` does.
        """
        target = self._chunked(self.incremental_writer, name)
        make = cast(Callable[..., IncrementalWriter], self._loaded(target))
        return make(findings, **self.chosen(options))

    def chosen(
        self, options: Mapping[str, OptionValue], *, reading: bool = False
    ) -> dict[str, OptionValue]:
        """Return the `options` that are set. `reading`: whether they are options of the reader.

        Raises OptionError for an option that the format does not have, and for a value that is not
        one of the choices. An option that only another format has is no error if it is not set.
        """
        declared = self.read_options if reading else self.options
        return cast(dict[str, OptionValue], chosen(options, declared, f"the format {self.name!r}"))

    def _loaded(self, target: str) -> object:
        """Import a function or class of the format by its name, "module:function".

        Raises FormatError if it is missing, and another package than exset declares the format.
        """
        try:
            return load(target)
        except (ImportError, AttributeError) as error:
            if target.startswith("exset."):
                raise
            from exset.core.plugins import import_error

            raise import_error(
                f"the format {self.name!r}", f"{type(error).__name__}: {safe(str(error))}"
            ) from error

    def _chunked(self, target: str | None, name: str) -> str:
        if target is None:
            message = f"{self.name} ({self.title}) cannot be read or written in chunks"
            hint = "use exset.load and exset.save, which read and write whole files"
            raise FormatError(message, place=Place(name), hint=hint, code="format")
        return target


def _kept(
    blocks: Blocks, limits: Limits, read: Callable[[Blocks], Iterator[Model]]
) -> Iterator[Model]:
    """Yield the models that `read` reads from blocks with an open file as their `file`.

    If `blocks` has no such file, exset first copies its bytes to a temporary file.
    """
    with blocks.kept(limits) as kept:
        yield from read(kept)


@dataclass
class _Counted(Iterable[Model]):
    """The models of an iterable, each checked when it is yielded. `count`: their units so far."""

    models: Iterable[Model]
    check: Callable[[Model], None]
    count: int = 0

    def __iter__(self) -> Iterator[Model]:
        self.count = 0
        for model in self.models:
            self.check(model)
            self.count += len(model)
            yield model
