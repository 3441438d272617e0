"""The meaning of LBANN's sample lists as JSON; `lbann-list.schema.json` describes it.

The totals in line 2 are not part of the meaning, as LBANN does not use them.
"""

from typing import cast

from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.testing.conformance.nodes import Document, Json, Node, string
from exset.testing.conformance.plain_words import explained

__all__ = ["explained", "features", "meaning", "normalized", "unshared"]


def meaning(samples: SampleList) -> Document:
    """Return the meaning of a sample list, in canonical form."""
    ids, bounds = samples.ids, samples.id_offsets.tolist()
    files: list[Json] = []
    for i in range(len(samples.name)):
        if isinstance(ids, Strings):
            own = [cast(Json, ids[row]) for row in range(bounds[i], bounds[i + 1])]
        else:
            own = [cast(Json, number) for number in samples.ids_of(i)]
        file: dict[str, object] = {"name": samples.name[i], "ids": own}
        if not samples.kind.is_single:
            file["included"] = int(samples.included[i])
            file["excluded"] = int(samples.excluded[i])
        files.append(cast(Json, file))
    return normalized(
        Node(
            {
                "type": samples.kind.value,
                "directory": samples.directory,
                "label_file": samples.label_file,
                "files": files,
            }
        )
    )


def normalized(document: Node) -> Document:
    """Check a meaning that a program wrote; return its canonical form.

    If the number of samples is missing, it is 0. If the ids are missing, there are none. Raises
    BadMeaning if the meaning is invalid.
    """
    document.known("type", "directory", "label_file", "files")
    kind = document.get("type")
    if kind.value not in list(Kind):
        raise kind.error("a type of sample lists")
    has_excluded = Kind(kind.text()).has_excluded
    return {
        "type": kind.text(),
        "directory": document.get("directory").string(),
        "label_file": document.get("label_file").string() or None,
        "files": [_file(each, has_excluded) for each in document.get("files").items()],
    }


def features(document: Document) -> set[str]:
    """Return the features that a reader needs to read a list with this canonical meaning."""
    return {str(document["type"])}


def unshared(document: Document) -> Document:
    """Return the meaning unchanged, as no values are shared in it."""
    return document


def _file(node: Node, has_excluded: bool) -> Document:
    node.known("name", "included", "excluded", "ids")
    counts = {name: node.get(name) for name in ("included", "excluded")}
    ids = node.get("ids")
    return {
        "name": string(b"") if node.get("name").missing else node.get("name").string(),
        "included": 0 if counts["included"].missing else counts["included"].integer(),
        "excluded": 0
        if counts["excluded"].missing or not has_excluded
        else counts["excluded"].integer(),
        "ids": [] if ids.missing else [_id(each) for each in ids.items()],
    }


def _id(node: Node) -> Json:
    """Return an id in canonical form: an integer, or a byte string."""
    is_number = isinstance(node.value, int) and not isinstance(node.value, bool)
    return node.integer() if is_number else node.string()
