"""What the units of each family are called, for those who choose by name."""

from collections.abc import Iterator

from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lens.examples import ExampleSet


def examples(model: ExampleSet) -> Iterator[bytes]:
    """The names of the examples; empty for one without."""
    return (name or b"" for name in model.name)


def samples(model: SampleList) -> Iterator[bytes]:
    """The files of the samples and, where lists have them, a slash and their ids."""
    for file, name in enumerate(model.name):
        named = name or b""
        if model.kind.is_single or model.kind.is_exclusion:
            for _ in range(int(model.included[file])):
                yield named
        else:
            for each in model.ids_of(file):
                yield named + b"/" + str(each).encode("utf-8", "surrogateescape")


def records(model: Manifest) -> Iterator[bytes]:
    """The first fields of the records."""
    return (name or b"" for name in (model.column(0) if len(model) else ()))


def elements(model: Block) -> Iterator[bytes]:
    """The names of the first elements of the records; nothing where there is no telling which."""
    width = model.width
    rows = len(model)
    names = model.elements.name.tolist()[: rows * (width or 0) : width or 1]
    return (name or b"" for name in names or [b""] * rows)
