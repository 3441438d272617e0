"""`exset sampler plan`: what batches of N classes and M samples come to, before any training."""

import click

from exset.cli.common import wrong
from exset.cli.inputs import (
    Reading,
    common_options,
    file_argument,
    json_option,
    wants_json,
    write_one,
)

PLANNED = (
    *("items", "classes", "small_classes", "largest_class", "batches", "distinct_batches"),
    *("replicas", "batches_per_replica", "repeated_batches", "dropped_batches", "drawn"),
    *("items_drawn", "coverage", "repeats", "imbalance"),
)
"""What a plan says, in its JSON."""


@click.group()
def sampler() -> None:
    """Batches of N classes and M samples of each."""


@sampler.command()
@file_argument("labels", "LABELS")
@click.option("-n", "wide", type=click.IntRange(1), required=True, help="Classes in a batch.")
@click.option("-m", "samples", type=click.IntRange(1), required=True, help="Samples of each.")
@click.option(
    "--world-size", type=click.IntRange(1, 100_000), default=1, help="Ranks that share batches."
)
@click.option("--sampler", "name", default="planned", help="random, exhaustive or planned (this).")
@click.option("--column", metavar="NAME", help="Or its number, from 0; in HDF5, the dataset.")
@click.option("--drop-last", is_flag=True, help="Leave out, rather than repeat.")
@click.option("--no-shuffle", is_flag=True, help="Keep the order of the data.")
@click.option("--seed", metavar="N", type=int, default=1234, help="Which batches (1234).")
@click.option("--epoch", metavar="N", type=click.IntRange(0), default=0, help="Which epoch (0).")
@json_option("sampler", *PLANNED, labels="labels", n="wide", m="samples")
@common_options
def plan(
    labels: str,
    wide: int,
    samples: int,
    world_size: int,
    name: str,
    column: str | None,
    drop_last: bool,
    no_shuffle: bool,
    seed: int,
    epoch: int,
    reading: Reading,
) -> None:
    """Draw an epoch, and say what is in it.

    \b
      exset sampler plan labels.csv -n 64 -m 4 --world-size 4 --column speaker

    LABELS has the label of each item: a CSV file, a manifest, a NumPy array (.npy) or an HDF5 file.
    """
    from exset.runtime.samplers.label_files import read_labels
    from exset.runtime.samplers.registry import build_sampler

    read = read_labels(labels, column, limits=reading.limits)
    try:
        made = build_sampler(
            name,
            read,
            wide,
            samples,
            shuffle=not no_shuffle,
            drop_last=drop_last,
            rank=0,
            num_replicas=world_size,
            seed=seed,
        )
    except ValueError as error:
        wrong(str(error))
    made.set_epoch(epoch)
    found = made.plan().to_dict()
    if wants_json():
        row = {"labels": labels, "sampler": type(made).__name__, "n": wide, "m": samples}
        write_one({**row, **found})
        return
    for label, text in _rows(found, wide, samples):
        click.echo(f"{label:<12} {text}")


def _rows(found: dict[str, object], wide: int, samples: int) -> list[tuple[str, str]]:
    """The plan as (label, text)."""
    number = {name: f"{value:,}" for name, value in found.items() if isinstance(value, int)}
    imbalance = found["imbalance"]
    uneven = "some classes never" if imbalance is None else f"up to {imbalance:.3g} times as often"
    more = {"repeated_batches": "drawn again", "dropped_batches": "left out"}
    odd = "".join(f", {number[name]} {verb}" for name, verb in more.items() if found[name])
    coverage = f"{found['coverage']:.2%}"
    return [
        ("items", f"{number['items']} in {number['classes']} classes,"
         f" the largest of {number['largest_class']}"),
        ("too small", f"{number['small_classes']} classes of fewer than {samples} items"),
        ("batches", f"{number['batches']} of {wide} x {samples},"
         f" {number['distinct_batches']} with {wide} distinct classes"),
        ("ranks", f"{number['replicas']}, {number['batches_per_replica']} batches each{odd}"),
        ("coverage", f"{coverage}: {number['items_drawn']} items"),
        ("repeats", f"{number['repeats']} of {number['drawn']} indices"),
        ("imbalance", f"items of one class are drawn {uneven} as those of another"
         if imbalance is not None else uneven),
    ]  # fmt: skip
