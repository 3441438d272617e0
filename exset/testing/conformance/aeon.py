"""The meaning of aeon's manifests as JSON: the elements that aeon makes from the fields.

`aeon-manifest.schema.json` describes this JSON. In a column of type FILE, an element is the path of
the file. If aeon cannot make an element, the element is null: aeon refuses its record when it loads
the record.
"""

import numpy as np

from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.runtime.aeon.elements import Elements, elements
from exset.testing.conformance.nodes import Document, Json, Node, real, string
from exset.testing.conformance.plain_words import explained

__all__ = ["explained", "features", "meaning", "normalized", "unshared"]


def meaning(manifest: Manifest) -> Document:
    """Return the meaning of a manifest, in canonical form."""
    columns = [_column(elements(manifest, i)) for i in range(len(manifest.types))]
    return {
        "types": [kind.value for kind in manifest.types],
        "records": [list(record) for record in zip(*columns, strict=True)],
    }


def normalized(document: Node) -> Document:
    """Return the canonical form of a meaning that a program wrote. Raises BadMeaning if invalid."""
    document.known("types", "records")
    kinds = [_kind(each) for each in document.get("types").items()]
    records: list[Json] = []
    for record in document.get("records").items():
        values = list(record.items())
        if len(values) != len(kinds):
            raise record.error(f"{len(kinds)} elements, one for each type")
        records.append([_element(*pair) for pair in zip(kinds, values, strict=True)])
    return {"types": [kind.value for kind in kinds], "records": records}


def features(document: Document) -> set[str]:
    """Return the features that a reader needs to read a manifest with this canonical meaning."""
    return {kind.text() for kind in Node(document).get("types").items()}


def unshared(document: Document) -> Document:
    """Return the meaning unchanged, as no values are shared in it."""
    return document


def _column(column: Elements) -> list[Json]:
    failed = {error.record for error in column.errors}
    values: list[Json]
    if column.kind is ElementType.ASCII_FLOAT:
        values = [real(value) for value in column.numbers.astype(np.float32)]
    elif column.kind is ElementType.ASCII_INT:
        values = [int(value) for value in column.numbers]
    else:
        values = [None if each is None else string(each) for each in column.strings]
    return [None if row in failed else value for row, value in enumerate(values)]


def _kind(node: Node) -> ElementType:
    if node.value not in list(ElementType):
        raise node.error("a type of elements")
    return ElementType(node.text())


def _element(kind: ElementType, node: Node) -> Json:
    if node.missing:
        return None
    if kind is ElementType.ASCII_FLOAT:
        return node.real()
    return node.integer() if kind is ElementType.ASCII_INT else node.string()
