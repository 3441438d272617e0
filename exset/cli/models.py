"""The options of commands that write one file, and the report about this file."""

import os
from collections.abc import Iterable

import click

from exset import api, formats
from exset.cli.options import Decorator, options
from exset.cli.output import usage_error
from exset.cli.reports import SHOWN, Report, json_option, json_rows, show_findings
from exset.core.errors import Findings, FormatError, Place, Severity
from exset.core.protocols import Model
from exset.core.text import safe
from exset.io import files


def output_option(
    format: str, help: str = "Write to this file (default: standard output)."
) -> Decorator:
    """Add `-o`, the file to write; the file must have the format `format`."""

    def check_suffix(ctx: click.Context, param: click.Parameter, path: str) -> str:
        others = formats.with_suffix(path)
        if others and format not in (other.name for other in others):
            usage_error(f"the suffix of {safe(path)} means another format: {others[0].title}")
        return path

    return click.option(
        "-o", "--output", metavar="FILE", default="-", callback=check_suffix, help=help
    )


def model_output(format: str) -> Decorator:
    """Add `-o` and `--json` to a command that returns the report of `written`."""
    rows = json_option("format", "units", "counts", "findings", file="output")
    return options(output_option(format), rows)


def refuse_json_in_data(output: str) -> None:
    """Refuse `--json` if the file itself goes to standard output."""
    if output == "-" and json_rows() is not None:
        usage_error("--json and the file would both go to standard output: use -o FILE")


def is_incomplete(
    findings: Findings, outputs: Iterable[str | None], partial: bool, verbosity: int
) -> bool:
    """Return whether `findings` has errors: these mean that some HDF5 files could not be read.

    If it has errors, an output exists already, and `partial` is false, raise FormatError: exset
    does not replace the old file.
    """
    if findings.worst is not Severity.ERROR:
        return False
    for output in outputs if not partial else ():
        if output is not None and os.path.exists(output):
            show_findings(findings, verbosity)
            message = "exset did not replace the old file, because it cannot read some input files"
            hint = (
                "repair or leave out these files; or use --partial to write the result without them"
            )
            raise FormatError(message, place=Place(output), hint=hint, code="hdf5-incomplete")
    return True


def written(
    model: Model,
    format: str,
    output: str,
    findings: Findings,
    size: str | None = None,
    shown: int = SHOWN,
) -> Report:
    """Write a model to the file `output`, and return the report.

    `size`: a text that says how much was written, by default the number of units, such as examples
    or records. The report shows up to `shown` findings of each code.
    """
    refuse_json_in_data(output)
    fmt = formats.get(format)
    report = Report({"format": format, "units": len(model)}, findings, shown=shown)
    if output == "-":
        report.data, report.fmt = api.dumps(model, format=format, findings=findings), fmt
    else:
        if fmt.chunk_writer is not None and formats.family_of(model) == fmt.family:
            with files.writing(output) as file:  # this needs less memory
                _, beside = fmt.write_chunks([model], file, findings=findings)
            if beside is not None:
                fmt.add_sidecar_note(findings)
        else:
            files.write(output, api.dumps(model, format=format, findings=findings))
        report.status = [f"{safe(output)}: {size or fmt.family.counted(len(model))}"]
    return report
