"""The options of pictures that `exset plot` and `exset report` share."""

from exset.cli.options import Whole, options, secondary_option

batch_options = options(
    secondary_option("-n", "width", type=Whole(1), help="With batches: classes in a batch."),
    secondary_option("-m", "samples", type=Whole(1), help="With batches: samples of a class."),
    secondary_option(
        "--sampler", metavar="NAME", default="planned", help="With batches: use this sampler."
    ),
    secondary_option(
        "--seed", metavar="N", type=int, default=1234, help="With batches: use this seed (1234)."
    ),
)
"""Add the options of a picture of batches."""
