"""The bundled samples: small files that show each part of a format, `exset::NAME` as a path.

xor.ex            exclusive or, dense
xor-sparse.ex     the same with sparse inputs and targets
xor-both.ex       the same as an auto-encoder: inputs that are also the targets
xor-events.ex     the same with every other word of the format: header, procedures, events
xor-binary.bex    the dense one as a binary file
pulse.ex          a time-varying set: many events, each with its own times
groups.ex         ranges that name the groups of a network

flowers.sample_list    an LBANN sample list: some samples of two HDF5 files
molecules.sample_list  one whose ids are line numbers, in ranges

pictures.tsv           an aeon manifest: pictures, and the class of each
pictures.json          the configuration of aeon's loader that reads it
captions.tsv           one that needs no files: texts and numbers
"""

import errno
import os

from exset.core.source import Source

PREFIX = "exset::"
"""What a path begins with that names a bundled sample."""

_SUFFIXES = (".ex", ".bex", ".sample_list", ".tsv", ".json")


def names() -> tuple[str, ...]:
    """Return the file names of the samples, sorted."""
    found = os.listdir(os.path.dirname(__file__))
    return tuple(sorted(name for name in found if name.endswith(_SUFFIXES)))


def read(name: str) -> Source:
    """Return a sample by its file name, with `exset::` or without.

    Raises FileNotFoundError that lists the samples there are.
    """
    bare = name.removeprefix(PREFIX)
    if bare not in names():
        reason = f"no such sample (there are {', '.join(names())})"
        raise FileNotFoundError(errno.ENOENT, reason, PREFIX + bare)
    with open(os.path.join(os.path.dirname(__file__), bare), "rb") as file:
        return Source(PREFIX + bare, file.read())
