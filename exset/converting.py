"""`convert`: read one file and write another, in chunks if both formats allow it."""

import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from exset import api, bridge, formats, steps, streaming
from exset.core import errors
from exset.core.callers import public
from exset.core.errors import Findings, warn, with_source_name
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level, Model, OptionValue
from exset.families.format import Format
from exset.families.tables import TABLE
from exset.io import folders
from exset.io.files import FilePath
from exset.rereading import FileChunks, FileTables, Kept, OnceFindings, can_reread
from exset.steps import Steps
from exset.writing import writer


@dataclass(frozen=True)
class Conversion:
    """How much `convert` wrote, or would write: `count` units, `size` bytes before compression."""

    count: int
    size: int | None


@public
def convert(
    source: FilePath,
    target: FilePath,
    *,
    from_format: str | None = None,
    to: str | None = None,
    level: Level | None = None,
    dry_run: bool = False,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    reading: Mapping[str, OptionValue] | None = None,
    engine: Engine = "auto",
    **options: object,
) -> int:
    """Read one file and write another; return the number of units written, such as examples.

    Formats, options and errors are those of `load` and `save`. If both formats allow it, the file
    is converted in chunks: it may be larger than memory, or a pipe.

    - `dry_run`: write nothing. `findings` still gets all that the target cannot store.
    - `reading`: options of the reader. You need this if the writer has an option of the same name,
      such as `dialect`.
    - `engine`: the engine that reads.
    - `level`: as in `save`.

    To convert between families, exset first converts the file to a table. `options` may then also
    have options of `to_table` and `from_table`, with two differences: a list of names may be a text
    with commas, and `root` replaces `access`.

    exset converts between a manifest and a block directly. Paths in the manifest are then relative
    to `base`. If `root` is set, it must contain the files of these paths.
    """
    found = errors.collect_findings(strict, findings)
    done = conversion(
        os.fsdecode(source),
        os.fsdecode(target),
        from_format=from_format,
        to=to,
        level=level,
        dry_run=dry_run,
        limits=limits,
        findings=found,
        reading=reading or {},
        engine=formats.engine(engine),
        options=options,
    )
    if findings is None:
        warn(found)
    return done.count


def conversion(
    source: str,
    target: str,
    *,
    from_format: str | None,
    to: str | None,
    level: Level | None,
    dry_run: bool,
    limits: Limits,
    findings: Findings,
    reading: Mapping[str, OptionValue],
    engine: Engine,
    options: Mapping[str, object],
    roots: tuple[str, ...] = (),
) -> Conversion:
    """Convert a file. The arguments are those of `convert` and of `Steps.of`.

    `roots`: which files of a folder may be opened, as in `Folder`. If it is not empty, the source
    counts as untrusted.
    """
    if from_format is not None:
        formats.get(from_format)
    target_format = api.target_format(target, to, argument="to")
    steps.check(target_format, options)
    chosen = target if to is None else ""
    if dry_run:
        target = os.devnull
    with ExitStack() as stack:
        opened = streaming.opened(
            source, format=from_format, limits=limits, argument="from_format", roots=roots
        )
        file = stack.enter_context(opened)
        fmt, name = file.format, file.name
        if to is None:
            target_format = api.target_format(chosen, family=fmt.family)
        api.check_convertible(fmt.family, target_format, chosen, name)
        if dry_run and target_format.option("lossy"):
            options = {**options, "lossy": True}
        step = Steps.of(
            fmt, target_format, options, reading, is_untrusted=bool(roots), dry_run=dry_run
        )
        read: dict[str, Any] = {"engine": engine, **step.read}
        writing: dict[str, Any] = {**step.write}
        if can_reread(file, target_format):
            once = OnceFindings(findings)
            opener = streaming.reopener(source, file, roots, stack)
            models: Iterable[Model] = Kept(FileChunks(opener, step.read, engine, once), fmt.family)
            nouns = (fmt.family.noun, target_format.family.noun)
            with with_source_name(name, *nouns, findings=findings) as named:
                if (found := bridge.level_for(fmt.family, target_format, level)) is not None:
                    tables = FileTables(models, fmt.family, found, limits, named, step.to_table)
                    models = Kept(tables, TABLE)
                return _in_chunks(models, target, target_format, dry_run, named, writing)
        is_chunked = fmt.streamer is not None and fmt.family == target_format.family
        if is_chunked and target_format.incremental_writer is not None:
            models = file.stream(findings, **read)
            first = next(models)  # errors come before anything is written
            with writer(
                target, format=target_format.name, name=name, findings=findings, **writing
            ) as out:
                out.write(first)
                for model in models:
                    out.write(model)
                stack.close()  # the source may be the target
            return Conversion(out.count, out.size)
        model = file.model(findings, **read)
        stack.close()
        model = step.converted(
            model, target_format, name, level=level, findings=findings, limits=limits
        )
        if target_format.is_folder:
            nouns = (fmt.family.noun, target_format.family.noun)
            with (
                with_source_name(name, *nouns, findings=findings) as named,
                folders.writing(target, dry_run=dry_run) as folder,
            ):
                count = target_format.write_folder([model], folder, findings=named, **writing)
            return Conversion(count, folder.size)
        to = target_format.name
        if dry_run:
            data = api.dumps(model, format=to, name=name, findings=findings, **writing)
            return Conversion(len(model), len(data))
        api.save(model, target, format=to, name=name, findings=findings, **writing)
        return Conversion(len(model), None)


def _in_chunks(
    models: Iterable[Model],
    target: str,
    target_format: Format,
    dry_run: bool,
    findings: Findings,
    writing: Mapping[str, OptionValue],
) -> Conversion:
    """Write models, the chunks of one model, to a file or a folder; return how much was written.

    The file or folder is written completely or not at all. models: may be iterated over twice.
    dry_run: write nothing. writing: the options of the writer.
    """
    if target_format.is_folder:
        with folders.writing(target, dry_run=dry_run) as folder:
            count = target_format.write_folder(models, folder, findings=findings, **writing)
        return Conversion(count, folder.size)
    if dry_run:
        counter = _Counter()
        count, beside = target_format.write_chunks(models, counter, findings=findings, **writing)
        if beside is not None:
            target_format.add_sidecar_note(findings)
        return Conversion(count, counter.count)
    count = target_format.write_file(models, target, findings=findings, **writing)
    return Conversion(count, None)


class _Counter(BytesIO):
    """A file that only counts the bytes written to it, and does not store them."""

    count = 0

    def write(self, data: Any, /) -> int:
        """Count the bytes of `data`, and return their number."""
        size = memoryview(data).nbytes
        self.count += size
        return size

    def seekable(self) -> bool:
        """Return False."""
        return False
