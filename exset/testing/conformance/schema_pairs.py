r"""Test which fields an experiment reads. A case is a pair of schemas as JSON.

    {"data": "a:\n  metadata: {scale: 2.0}\n", "experiment": "a:\n"}

The meaning is the name of each field that the experiment reads, and the field's directives. These
also come from groups and from the experiment schema. The fields may be in any order.
`schema_pairs.schema.json` describes the meaning.
"""

import json
from collections.abc import Iterable

from exset.core.errors import Findings, FormatError, Place
from exset.core.source import Source
from exset.core.text import safe
from exset.parsers.lbann.schema import parse
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.testing.conformance.nodes import Document, Json, Node
from exset.testing.conformance.plain_words import explained
from exset.testing.conformance.schemas import canonical, directives, kinds

__all__ = ["explained", "features", "meaning_of", "normalized", "unshared"]

_ROLES = ("data", "experiment")


def meaning_of(data: bytes) -> Document:
    """Return the fields of a pair of schemas. Raises FormatError if the pair is invalid."""
    try:
        request = Node(json.loads(data)).known(*_ROLES)
        texts = [request.get(role).text().encode("utf-8") for role in _ROLES]
    except ValueError as error:
        raise FormatError(safe(str(error)), place=Place("<schema_pair>")) from None
    schemas = [
        parse(Source(f"<{role}>", text), findings=Findings())
        for role, text in zip(_ROLES, texts, strict=True)
    ]
    merged = merge_schemas(*schemas, findings=Findings())
    return _sorted(
        {
            "name": field.name,
            "metadata": {name: canonical(each.value) for name, each in field.metadata.items()},
        }
        for field in merged.fields
    )


def normalized(document: Node) -> Document:
    """Return the canonical form of a meaning that a program wrote. Raises BadMeaning if invalid."""
    document.known("fields")
    return _sorted(
        {
            "name": field.known("name", "metadata").get("name").text(),
            "metadata": directives(field.get("metadata")),
        }
        for field in document.get("fields").items()
    )


def features(document: Document) -> set[str]:
    """Return the features that a program needs to give this meaning."""
    found = set[str]()
    for field in Node(document).get("fields").items():
        for value in field.get("metadata").members().values():
            found |= {"metadata", *kinds(value.json())}
    return found


def unshared(document: Document) -> Document:
    """Return the meaning unchanged, as no values are shared in it."""
    return document


def _sorted(fields: Iterable[dict[str, Json]]) -> Document:
    """Return fields in the order of their names."""
    return {"fields": [*sorted(fields, key=lambda field: str(field["name"]))]}
