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
    """Return the header to use if there is no manifest from which to take it: no types and no
    records.
    """
    return Manifest.of([], [])


def model(units: object, header: object, /) -> Manifest:
    """Return a manifest of the one record in `units`; return `units` unchanged if it is a
    manifest.

    `header`: a manifest without records; the new manifest has its types and its dialect.
    """
    if isinstance(units, Manifest):
        return units
    header = cast(Manifest, header)
    return Manifest.of(header.types, [cast(Sequence[Field], units)], dialect=header.dialect)


def joined(models: Iterable[Manifest], /) -> Manifest:
    """Join one or more manifests: return a manifest with all their records in order."""
    first, *others = models
    return first.concat(*others)
