"""Conversion of files, part by part where both formats allow it."""

import os
from collections.abc import Mapping
from contextlib import ExitStack

from exset import api, formats, streaming
from exset.core import errors
from exset.core.errors import Findings, warn
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Option
from exset.core.source import Source
from exset.io.files import FilePath
from exset.writing import writer


def convert(
    source: FilePath,
    target: FilePath,
    *,
    from_format: str | None = None,
    to: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    reading: Mapping[str, Option] | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> int:
    """Read one file and write another; return how many units, such as examples, passed through.

    The formats are told as in `load` and `save`, whose options and errors these are; they must be
    of one family. `reading` are options of the reader where the writer has one of that name, such
    as `dialect`; `engine` is what reads. Where both allow it the file passes through part by part,
    so that it may be larger than memory, or come from a pipe and go to one.
    """
    source, target, engine = os.fsdecode(source), os.fsdecode(target), formats.engine(engine)
    if from_format is not None:
        formats.get(from_format)
    wanted = api.target_format(target, to)
    others, options = api.parted(options, wanted)
    reading = {**others, **(reading or {})}
    wanted.chosen(options)
    heard = errors.heard(strict, findings)
    with ExitStack() as stack:
        blocks = stack.enter_context(streaming.opened(source, limits=limits))
        known = streaming.recognise(blocks, from_format)
        api.convertible(known, wanted, Source(blocks.name, b""))
        if known.streamer is None or wanted.pieces is None:
            whole = Source(blocks.name, b"".join(blocks))
            stack.close()
            model = known.read(whole, limits=limits, findings=heard, engine=engine, **reading)
            to, name = wanted.name, whole.name
            api.save(model, target, format=to, name=name, findings=heard, **options)
            count = len(model)
        else:
            known.chosen(reading, reading=True)
            parts = known.stream(blocks, limits=limits, findings=heard, engine=engine)
            first = next(parts)  # before anything is written
            to, name = wanted.name, blocks.name
            with writer(
                target, format=to, header=None, name=name, findings=heard, **options
            ) as out:
                out.write(first)
                for part in parts:
                    out.write(part)
                stack.close()  # it may be the target
            count = out.count
    if findings is None:
        warn(heard, 3)
    return count
