"""The meaning of aeon's cache blocks as JSON: the number of records, and the data of all elements.

`cpio.schema.json` describes this JSON. A block does not say how many elements a record has, nor
their types: the manifest does. Times and names of entries are not part of the meaning.
"""

from exset.grammars.aeon.block import Block
from exset.testing.conformance.nodes import Document, Json, Node, string
from exset.testing.conformance.plain_words import explained

__all__ = ["explained", "features", "meaning", "normalized", "unshared"]


def meaning(block: Block) -> Document:
    """Return the meaning of a block, in canonical form."""
    elements: list[Json] = [string(bytes(data)) for data in block.elements.data]
    return {"record_count": len(block), "elements": elements}


def normalized(document: Node) -> Document:
    """Return the canonical form of a meaning that a program wrote. Raises BadMeaning if invalid."""
    document.known("record_count", "elements")
    elements = document.get("elements").items()
    return {
        "record_count": document.get("record_count").integer(),
        "elements": [element.string() or "" for element in elements],
    }


def features(document: Document) -> set[str]:
    """Return the features that a reader needs to read a block with this canonical meaning."""
    elements = [each.value for each in Node(document).get("elements").items()]
    found = {"binary-elements"} if any(isinstance(each, dict) for each in elements) else set()
    return found | ({"empty-elements"} if "" in elements else set())


def unshared(document: Document) -> Document:
    """Return the meaning unchanged, as no values are shared in it."""
    return document
