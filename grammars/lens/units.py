"""Split example sets into examples, and join them, for streams and writers."""

from collections.abc import Iterable
from typing import cast

from exset.grammars.lens.examples import ExampleSet, SetHeader


def of(model: ExampleSet, /) -> Iterable[object]:
    """Return the examples of a set, as views."""
    return model


def header(model: ExampleSet, /) -> SetHeader:
    """Return the header of a set."""
    return model.header


def no_header() -> SetHeader:
    """Return the header to use if no set gives a header. It has Lens's defaults."""
    return SetHeader()


def model(units: object, header: object, /) -> ExampleSet:
    """Return a set of the one example in `units`. If `units` is a set, return it unchanged.

    units: an `ExampleView`, an `Example` or a set; other values raise TypeError. header: the header
    of the file being written. Only the set of an `Example` gets it.
    """
    if isinstance(units, ExampleSet):
        return units
    from exset.grammars.lens.build import Example
    from exset.grammars.lens.views import ExampleView

    if isinstance(units, ExampleView):
        return cast(ExampleSet, units.columns).select([units.index])
    if isinstance(units, Example):
        return ExampleSet.from_examples([units], cast("SetHeader | None", header))
    raise TypeError(f"write takes an example or an ExampleSet, not {type(units).__name__}")


def joined(models: Iterable[ExampleSet], /) -> ExampleSet:
    """Return a set with all examples of one or more sets, in order."""
    first, *others = models
    return first.concat(*others)
