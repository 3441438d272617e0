"""`exset sampler plan`: report how many batches and samples an epoch has, without training."""

from typing import Any

import click

from exset.cli.commands import Group
from exset.cli.inputs import CommonOptions, common_options
from exset.cli.options import Whole, option, secondary_option
from exset.cli.output import data_errors
from exset.cli.paths import file_argument
from exset.cli.reports import Report, json_option
from exset.core.text import counted

PLAN_KEYS = (
    *("items", "classes", "small_classes", "largest_class", "batches", "distinct_batches"),
    *("replicas", "batches_per_replica", "repeated_batches", "dropped_batches", "drawn"),
    *("items_drawn", "coverage", "repeats", "imbalance"),
)
"""The names of a plan's numbers in JSON."""


@click.group(cls=Group)
def sampler() -> None:
    """Plan batches of N classes with M samples of each class."""


@sampler.command()
@file_argument("labels", "LABELS")
@option("-n", "classes", type=Whole(1), required=True, help="Draw batches of N classes.")
@option(
    "-m", "samples", type=Whole(1), required=True, help="Draw batches with N samples of each class."
)
@option("--column", metavar="NAME", help="Take the labels from this column or HDF5 dataset.")
@option(
    "--sampler",
    "name",
    metavar="NAME",
    default="planned",
    help="Draw batches with this sampler: random, exhaustive or planned (default).",
)
@option(
    "--world-size",
    "num_replicas",
    type=Whole(1, 100_000),
    default=1,
    help="Set the number of ranks (default: 1).",
)
@option(
    "--seed",
    metavar="N",
    type=int,
    default=1234,
    help="Draw batches with this seed (default: 1234).",
)
@secondary_option(
    "--epoch", type=Whole(0), default=0, help="Plan the batches of this epoch (default: 0)."
)
@secondary_option(
    "--drop-last",
    is_flag=True,
    help="Drop incomplete and surplus batches (default: fill or repeat).",
)
@secondary_option(
    "--no-shuffle", "shuffle", flag_value=False, default=True, help="Keep the order of the data."
)
@json_option(
    *("sampler", *PLAN_KEYS, "counts", "findings"), labels="labels", n="classes", m="samples"
)
@common_options
def plan(
    labels: str,
    classes: int,
    samples: int,
    name: str,
    column: str | None,
    epoch: int,
    common: CommonOptions,
    **options: Any,
) -> Report:
    """Draw the batches of an epoch, and report how many batches and items there are.

    \b
      exset sampler plan labels.csv -n 64 -m 4 --world-size 4 --column speaker

    LABELS contains the label of each item: a CSV file, a manifest, a NumPy array (.npy) or an HDF5
    file. The column is a name, or a number counted from 0. If a name has only digits, put it in
    quotation marks: '"1"'.
    """
    from exset.labels import read_labels
    from exset.runtime.samplers.registry import build_sampler

    array = read_labels(labels, column, limits=common.limits, findings=common.findings)
    with data_errors():
        sampler = build_sampler(name, array, classes, samples, rank=0, **options)
    sampler.set_epoch(epoch)
    numbers = sampler.plan().to_dict()
    lines = [f"{label:<12} {text}" for label, text in _rows(numbers, classes, samples)]
    return Report({"sampler": type(sampler).__name__, **numbers}, common.findings, lines)


def _rows(numbers: dict[str, object], classes: int, samples: int) -> list[tuple[str, str]]:
    """Return the numbers about an epoch as pairs (label, text).

    classes, samples: the number of classes in a batch, and of samples of each class.
    """
    counts = {name: value for name, value in numbers.items() if isinstance(value, int)}
    text = {name: f"{value:,}" for name, value in counts.items()}
    extra = {"repeated_batches": "repeated", "dropped_batches": "dropped"}
    extras = "".join(
        f", {counted(counts[name], 'batch')} {verb}"
        for name, verb in extra.items()
        if numbers[name]
    )
    imbalance = "some classes are never drawn"
    if numbers["imbalance"] is not None:
        times = f"{numbers['imbalance']:.3g}"
        imbalance = f"items of one class are drawn up to {times} times as often as items of another"
    return [
        ("items", f"{counted(counts['items'], 'item')} in {counted(counts['classes'], 'class')};"
         f" the largest class has {counted(counts['largest_class'], 'item')}"),
        ("too small", f"{counted(counts['small_classes'], 'class')} with fewer than"
         f" {counted(samples, 'item')}"),
        ("batches", f"{counted(counts['batches'], 'batch')} of {counted(classes, 'class')} x"
         f" {counted(samples, 'item')},"
         f" {text['distinct_batches']} of them with {counted(classes, 'distinct class')}"),
        ("ranks", f"{counted(counts['replicas'], 'rank')},"
         f" {counted(counts['batches_per_replica'], 'batch')} for each{extras}"),
        ("coverage", f"{numbers['coverage']:.2%} of the items are drawn:"
         f" {counted(counts['items_drawn'], 'item')}"),
        ("repeats", f"{text['repeats']} of the {text['drawn']} drawn items were drawn before"),
        ("imbalance", imbalance),
    ]  # fmt: skip
