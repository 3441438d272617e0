"""The options of pictures that `exset plot` and `exset report` share."""

from exset.cli.options import Whole, options, secondary_option

batch_options = options(
    secondary_option("-n", "width", type=Whole(1), help="Draw batches of N classes."),
    secondary_option(
        "-m", "samples", type=Whole(1), help="Draw batches with N samples of each class."
    ),
    secondary_option(
        "--sampler",
        metavar="NAME",
        default="planned",
        help="Draw batches with this sampler: random, exhaustive or planned (default).",
    ),
    secondary_option(
        "--seed",
        metavar="N",
        type=int,
        default=1234,
        help="Draw batches with this seed (default: 1234).",
    ),
)
"""Add the options of a picture of batches."""
