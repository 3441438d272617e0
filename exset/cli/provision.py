"""`exset provision`: show what aeon's loader gives a network, and how fast."""

import io
from collections.abc import Callable
from contextlib import nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from exset.cli.commands import Command
from exset.cli.inputs import CommonOptions, base_option, reading_options_of, roots_option
from exset.cli.options import Whole, option
from exset.cli.output import data_errors, usage_error
from exset.cli.paths import one_file
from exset.cli.reports import Report, json_option
from exset.core.errors import Findings
from exset.core.text import counted, safe
from exset.io import files, folders

if TYPE_CHECKING:
    from exset.grammars.aeon.config.model import LoaderConfig
    from exset.runtime.aeon.provision.loader import DataLoader
    from exset.runtime.aeon.provision.sheet import Batch


@click.command(cls=Command)
@one_file
@option("--batches", type=Whole(1), default=1, help="Make N batches (default: 1).")
@option(
    "-o",
    "--output",
    metavar="FOLDER",
    help="Write to this new folder: each batch as an .npz file, and each record as a picture.",
)
@option(
    "--contact-sheet",
    "contact",
    metavar="FILE",
    help="Draw all records into one picture, and write it to this .png file.",
)
@option("--bench", is_flag=True, help="Print records per second, and the time of each step.")
@option(
    "--compat", is_flag=True, help="Compute exactly aeon's values, even where aeon has defects."
)
@option("--scaled-decoding", "scaled", is_flag=True, help="Decode large JPEGs at a smaller size.")
@option("--threads", type=Whole(1), help="Decode with N threads (default: one for each core).")
@option(
    "--on-error",
    type=click.Choice(["raise", "skip", "blank"]),
    default="raise",
    help="Stop at a bad record (raise, the default), skip it, or fill it with zeros (blank).",
)
@json_option(
    "records", "outputs", "rate", "shares", "counts", "findings", file="file", output="output"
)
@base_option
@roots_option
@reading_options_of("loader_config")
def provision(
    file: str,
    batches: int,
    output: str | None,
    contact: str | None,
    bench: bool,
    compat: bool,
    scaled: bool,
    threads: int | None,
    on_error: str,
    base: str,
    common: CommonOptions,
) -> Report:
    """Make the batches that aeon's loader would provide.

    \b
      exset provision config.json --batches 2 -o batches
      exset provision config.json --contact-sheet batch.png
      exset provision config.json --batches 100 --bench

    The pictures of a contact sheet show boxes and masks, with the labels below them. This command
    needs OpenCV and simplejpeg: pip install 'exset[provision]'.
    """
    from exset.grammars.aeon.config.model import LoaderConfig
    from exset.runtime.aeon.provision.loader import DataLoader

    if contact is not None and not contact.lower().endswith(".png"):
        usage_error("--contact-sheet needs a name that ends with .png")
    if compat and scaled:
        usage_error("--scaled-decoding changes values, so it is not possible with --compat")
    config = common.load_model(file, LoaderConfig, format="loader_config")

    def loader(alone: bool) -> DataLoader:
        how: dict[str, Any] = {"compat": "aeon"} if compat else {}
        how |= {"threads": 1, "prefetch": 0} if alone else {"threads": threads}
        how |= {"on_error": on_error, "base": base, "scaled_decoding": scaled}
        return DataLoader(config, access=common.access, **how, **common.reading)

    with data_errors(ImportError):
        if bench:
            return _bench(loader, batches)
        with loader(False) as made:
            return _provide(made, config, batches, output, contact, common.findings)


def _bench(loader: Callable[[bool], "DataLoader"], batches: int) -> Report:
    """Report how many records per second a loader provides, and the time of each step."""
    from exset.runtime.aeon.provision.timing import measured

    timing = measured(loader, batches)
    shares = {name: round(share, 4) for name, share in timing.shares.items()}
    row = {"records": timing.records, "rate": round(timing.rate, 1), "shares": shares}
    lines = [
        f"{timing.rate:,.0f} records/s ({counted(timing.records, 'record')})",
        "on one thread:",
    ]
    lines += [f"  {name:9} {share:4.0%}" for name, share in shares.items()]
    return Report(row, lines=lines)


def _provide(
    loader: "DataLoader",
    config: "LoaderConfig",
    batches: int,
    output: str | None,
    contact: str | None,
    findings: Findings,
) -> Report:
    """Make `batches` batches; write them to files, and return the report.

    output: the folder for the arrays and pictures; None: write none. contact: the file for one
    picture of all records; None: write none. The report has the type and shape of each array of a
    batch.
    """
    from exset.runtime.aeon.provision.sheet import Sheet, as_png
    from exset.runtime.pictures.tiles import sheet

    drawing = Sheet.of(config)
    tiles, count, outputs = [], 0, {}
    with nullcontext() if output is None else folders.writing(output) as folder:
        for number, batch in enumerate(islice(loader, batches)):
            arrays = dict(batch)
            outputs = {name: [str(array.dtype), *array.shape] for name, array in arrays.items()}
            count += loader.batch_size
            drawn = drawing.batch(arrays, config) if output or contact else []
            tiles += drawn if contact else []
            if folder is not None:
                folder.write(f"{number}.npz", _npz(arrays))
                for row, tile in enumerate(drawn):
                    folder.write(f"{number}-{row}.png", as_png(tile))
    if contact is not None:
        files.write(contact, as_png(sheet(tiles)))
    lines = [f"{safe(name)}: {kind} {shape}" for name, (kind, *shape) in outputs.items()]
    status = [f"{safe(each)}: {counted(count, 'record')}" for each in (output, contact) if each]
    return Report({"records": count, "outputs": outputs}, findings, lines, status)


def _npz(arrays: "Batch") -> bytes:
    """Return the bytes of an .npz file with these arrays."""
    import numpy as np

    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()
