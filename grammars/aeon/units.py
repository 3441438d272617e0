"""Split manifests into records, and join them, for streams and writers."""

from collections.abc import Iterable, Sequence
from typing import cast

from exset.grammars.aeon.manifest import Field, Manifest


def of(model: Manifest, /) -> Iterable[object]:
    """Return the records of a manifest, each a tuple of fields."""
    return model


def header(model: Manifest, /) -> Manifest:
    """Return a manifest without records, with the types and the dialect of `model`."""
    return model.select(slice(0))


def no_header() -> Manifest:
    """Return the header to use if no manifest gives a header. It has no types and no records."""
    return Manifest.of([], [])


def model(units: object, header: object, /) -> Manifest:
    """Return a manifest of the one record in `units`. If `units` is a manifest, return it
    unchanged.

    header: a manifest without records. The new manifest has the header's types and dialect.
    """
    if isinstance(units, Manifest):
        return units
    header = cast(Manifest, header)
    return Manifest.of(header.types, [cast(Sequence[Field], units)], dialect=header.dialect)


def joined(models: Iterable[Manifest], /) -> Manifest:
    """Return a manifest with all records of one or more manifests, in order."""
    first, *others = models
    return first.concat(*others)
