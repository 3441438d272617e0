"""`validate`: check a file, and the files that it names."""

import os
from collections.abc import Mapping
from typing import cast

from exset import formats, streaming
from exset.core.callers import public
from exset.core.errors import Findings, FormatError, with_source_name
from exset.core.jobs import Jobs
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import CheckOptions, OptionValue
from exset.families.option import Option
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.files import FilePath
from exset.steps import parsed


@public
def validate(
    path: FilePath,
    *,
    format: str | None = None,
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    check_files: bool = False,
    base: FilePath = "",
    access: Access = DEFAULT_ACCESS,
    jobs: Jobs = 1,
    decode: bool = False,
    **options: object,
) -> Findings:
    """Read a file and return its findings, in the order of their places in the file.

    After an error in a text, exset looks for more errors, at most one in each record: an example, a
    line, or an entry of a schema that begins in column 1. It stops after 20 errors
    (`Findings.stopped`). In a file above 16 MiB that is read in chunks, it stops after the first
    error.

    - `check_files`: also check the files that this file names, with `jobs` processes. `jobs` may
      also be an `exset.jobs.Execution`.
    - `base`: the folder to which names in the file are relative, by default the current folder.
    - `access`: which of the named files may be opened, and how.
    - `decode`: with `check_files`, also decode the elements of a configuration of aeon's loader.
    - `options`: the options of `load`, and those of the family's check: `inputs` and `targets`, the
      layout of the network that an example set must fit, such as `{"onset": 20, "vowel": 6}` or
      `13`.

    Raises OSError for a file that cannot be opened. Raises ImportError if `decode` needs OpenCV and
    OpenCV is not installed. It never raises FormatError.
    """
    findings, name, engine = Findings(), os.fsdecode(path), formats.engine(engine)
    try:
        with streaming.opened(path, format=format, limits=limits, roots=access.roots) as file:
            family = file.format.family
            checking = parsed(family.check_options, options)
            reading = _without(family.check_options, options)
            file_check = family.file_check if check_files else None
            how = CheckOptions(name, os.fsdecode(base), access, jobs, limits, decode)
            models = file.models(findings, engine=engine, **reading)
            if file_check is not None:
                models = iter([family.joined(models)])
            first, check = 0, family.model_check(**checking)
            for model in models:
                if check is not None:
                    with with_source_name(name, family.noun, findings=findings) as named:
                        check(model, named, first=first)
                first += len(model)
                if file_check is not None:
                    file_check(model, findings, how)
    except FormatError as error:
        findings.add_all(error.findings)
    findings.sort()
    return findings


def _without(declared: tuple[Option, ...], options: Mapping[str, object]) -> dict[str, OptionValue]:
    """Return those of the options that are not among `declared`."""
    names = {option.name for option in declared}
    return {key: cast(OptionValue, options[key]) for key in options if key not in names}
