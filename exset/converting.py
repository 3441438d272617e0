"""`convert`: read one file and write another, in chunks where both formats allow it."""

import os
from collections.abc import Mapping
from contextlib import ExitStack

from exset import api, formats, streaming
from exset.core import errors
from exset.core.callers import public
from exset.core.errors import Findings, warn
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import OptionValue
from exset.io.files import FilePath
from exset.writing import writer


@public
def convert(
    source: FilePath,
    target: FilePath,
    *,
    from_format: str | None = None,
    to: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    reading: Mapping[str, OptionValue] | None = None,
    engine: Engine = "auto",
    **options: OptionValue,
) -> int:
    """Read one file and write another; return the number of units, such as examples.

    Formats, options and errors are those of `load` and `save`. Both formats must be of one family,
    or one a manifest and the other a block; `base` and `root` are for the files of the manifest.
    `reading` has options of the reader with names that the writer also has, such as `dialect`.
    `engine` is for reading. Where both formats allow it, the file is converted in chunks: it may be
    larger than memory, or a pipe.
    """
    source, target, engine = os.fsdecode(source), os.fsdecode(target), formats.engine(engine)
    if from_format is not None:
        formats.get(from_format)
    target_format = api.target_format(target, to, argument="to")
    of_readers = {option.name for fmt in formats.all_formats() for option in fmt.read_options}
    of_readers -= {option.name for option in target_format.options}
    moved = {name: options.pop(name) for name in of_readers & options.keys()}
    reading = {**moved, **(reading or {})}
    target_format.chosen(options)
    found = errors.collect_findings(strict, findings)
    with ExitStack() as stack:
        opened = streaming.opened(source, format=from_format, limits=limits, argument="from_format")
        file = stack.enter_context(opened)
        fmt, name = file.format, file.blocks.name
        chosen = target if to is None else ""
        api.check_convertible(fmt.family, target_format, chosen, name)
        to = target_format.name
        is_chunked = fmt.streamer is not None and target_format.incremental_writer is not None
        if not is_chunked or fmt.family != target_format.family:
            whole = file.source()
            stack.close()
            model = fmt.read(whole, limits=limits, findings=found, engine=engine, **reading)
            api.save(model, target, format=to, name=name, findings=found, **options)
            count = len(model)
        else:
            models = fmt.stream(
                file.blocks, limits=limits, findings=found, engine=engine, **reading
            )
            first = next(models)  # errors come before anything is written
            with writer(target, format=to, name=name, findings=found, **options) as out:
                out.write(first)
                for model in models:
                    out.write(model)
                stack.close()  # the source may be the target
            count = out.count
    if findings is None:
        warn(found)
    return count
