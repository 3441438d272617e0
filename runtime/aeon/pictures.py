"""Get the data for pictures of manifests, caches and loader configurations: classes and images."""

import os
from collections.abc import Iterator
from typing import Final

import numpy as np

from exset.core.errors import FormatError
from exset.core.limits import Limits
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.io.content_types import suffix_of
from exset.runtime.aeon.elements import ElementError, Encoded, contents, elements
from exset.runtime.aeon.manifest_classes import numbered_column
from exset.runtime.aeon.provision import decode
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.pictures.counting import class_balance
from exset.runtime.pictures.kinds import Bars, ContactSheet, shortened
from exset.runtime.pictures.options import PictureOptions

IMAGES: Final = 48
"""The most images of a contact sheet."""
SIDE: Final = 96
"""The longer side of an image of a contact sheet, in pixels."""

_LARGEST: Final = 1 << 26
"""The most bytes of an image file that is read for a contact sheet."""
_SUFFIXES: Final = (".jpg", ".png", ".bmp", ".gif", ".webp", ".tif")
_BLANK: Final = np.full((SIDE, SIDE, 3), 200, np.uint8)
_FACTORS: Final = (8, 4, 2)


def classes(manifest: Manifest, options: PictureOptions) -> Bars:
    """Return the number of records of each class. By default the classes are in the last column."""
    column = options.column or str(max(manifest.width - 1, 0))
    chosen = manifest if options.which is None else manifest.select(options.which)
    return class_balance(numbered_column(chosen, column), f"classes in column {column}", "records")


def manifest_images(manifest: Manifest, options: PictureOptions) -> ContactSheet:
    """Return the images of the first records.

    Raises ValueError if there is no column of images or no record, and ImportError without OpenCV.
    """
    column = _image_column(manifest, options.column)
    chosen = manifest if options.which is None else manifest.select(options.which)
    first = chosen.select(slice(IMAGES))
    return _contact_sheet(_of_manifest(first, column, options), len(chosen), options.limits)


def block_images(block: Block, options: PictureOptions) -> ContactSheet:
    """Return the images among the first elements. Raises the errors of `manifest_images`."""
    names, data = block.elements.name, block.elements.data
    which = range(len(data)) if options.which is None else options.which.tolist()
    kinds = (number for number in which[: 8 * IMAGES] if suffix_of(data[number]) in _SUFFIXES)
    shown = [number for number, _ in zip(kinds, range(IMAGES), strict=False)]
    images = ((names.text(number) or "", bytes(data[number])) for number in shown)
    return _contact_sheet(images, len(shown), options.limits)


def loader_images(config: LoaderConfig, options: PictureOptions) -> ContactSheet:
    """Return the first batch of a loader, with boxes, masks and labels.

    Raises the errors of `DataLoader`, for example for a manifest without records.
    """
    from exset.runtime.aeon.provision.loader import DataLoader
    from exset.runtime.aeon.provision.sheet import Sheet

    how = {"limits": options.limits, "findings": options.findings}
    with DataLoader(config, base=options.base, access=options.access, **how) as loader:  # type: ignore[arg-type]
        batch = next(iter(loader))
    tiles = Sheet.of(config).batch(dict(batch), config)[:IMAGES]
    note = f"the first {len(tiles)} records of the first batch"
    names = [str(number) for number in range(len(tiles))]
    return ContactSheet(tiles=[tile[:, :, ::-1] for tile in tiles], captions=names, note=note)


def _image_column(manifest: Manifest, column: str | None) -> int:
    numbers = [
        number
        for number, kind in enumerate(manifest.types)
        if kind in (ElementType.FILE, ElementType.BINARY)
    ]
    if column is None and numbers:
        return numbers[0]
    if column is None or column not in map(str, numbers):
        there = f": choose one of {', '.join(map(str, numbers))}" if numbers else ""
        which = "" if column is None else f" with the number {column}"
        raise ValueError(f"the manifest has no column of files or binary data{which}{there}")
    return int(column)


def _of_manifest(
    manifest: Manifest, column: int, options: PictureOptions
) -> Iterator[tuple[str, Encoded]]:
    """Yield (caption, contents) for each record that has an image in a column.

    The contents are the bytes of the image file.
    """
    found = elements(manifest, column, base=options.base)
    failed = {error.record: error for error in found.errors}
    last = len(manifest.types) - 1
    for record, value in enumerate(found.strings):
        row, name = manifest[record], str(record)
        data: Encoded = failed.get(record, value or b"")
        if found.kind is ElementType.FILE:
            name = os.path.basename(os.fsdecode(row[column]))
            try:
                path = value or b""
                data = contents(manifest, record, column, path, options.access, _LARGEST)
            except FormatError:
                data = b""
        label = row[last].decode("utf-8", "surrogateescape") if last != column else ""
        yield f"{label}: {name}" if len(label) < 12 and label else name, data


def _contact_sheet(
    images: Iterator[tuple[str, Encoded]], total: int, limits: Limits
) -> ContactSheet:
    tiles, captions, failed = [], [], 0
    for caption, data in images:
        tile = None if isinstance(data, ElementError) else thumbnail(data, limits)
        failed += tile is None
        tiles.append(_BLANK if tile is None else tile)
        captions.append(shortened(caption))
    if not tiles:
        raise ValueError("there is nothing to draw: no images")
    notes = [f"the first {len(tiles)} of {total:,}"] if total > len(tiles) else []
    notes += [f"{failed} cannot be decoded"] if failed else []
    return ContactSheet(tiles=tiles, captions=captions, note=", ".join(notes))


def thumbnail(data: bytes, limits: Limits) -> Pixels | None:
    """Return a small RGB image, uint8 [height, width, 3].

    Return None if `data` cannot be decoded.
    """
    cv2 = opencv()
    try:
        size = decode.jpeg_size(data)
        longest = 0 if size is None else max(size.width, size.height)
        factor = next((each for each in _FACTORS if longest >= each * SIDE), 1)
        pixels = decode.picture(data, 3, limits, factor)
    except FormatError:
        return None
    if pixels.dtype != np.uint8 or not pixels.size:
        return None
    height, width = pixels.shape[:2]
    scale = SIDE / max(height, width)
    if scale < 1:
        small = max(round(width * scale), 1), max(round(height * scale), 1)
        pixels = cv2.resize(pixels, small, interpolation=cv2.INTER_AREA)
    elif scale >= 2:
        pixels = pixels.repeat(int(scale), axis=0).repeat(int(scale), axis=1)
    return np.ascontiguousarray(pixels[:, :, ::-1])
