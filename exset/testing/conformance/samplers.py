"""Test the indices that samplers give. A case is a request; its meaning is each rank's indices.

    {"sampler": "planned", "labels": [0, 0, 1, 1], "n": 2, "m": 1, "replicas": 2, "seed": 3}

The request is JSON. Its members `shuffle`, `drop_last`, `seed`, `epoch` and `compat` are arguments
of the samplers. Without `replicas` there is one rank. `samplers.schema.json` describes the meaning.
"""

import json
from typing import cast

from exset.core.errors import FormatError, Place
from exset.core.text import safe
from exset.runtime.samplers.base import Compat
from exset.runtime.samplers.registry import SAMPLERS, build_sampler
from exset.testing.conformance.nodes import BadMeaning, Document, Json, Node
from exset.testing.conformance.plain_words import explained

__all__ = ["explained", "features", "meaning_of", "normalized", "unshared"]

_MEMBERS = (
    *("sampler", "labels", "n", "m", "shuffle", "drop_last", "replicas", "seed", "epoch"),
    "compat",
)


def meaning_of(data: bytes) -> Document:
    """Return the indices for a request. Raises FormatError if the request is invalid."""
    try:
        return _indices(Node(json.loads(data)).known(*_MEMBERS))
    except ValueError as error:
        raise FormatError(safe(str(error)), place=Place("<sampler>")) from None


def normalized(document: Node) -> Document:
    """Return the canonical form of a meaning that a program wrote. Raises BadMeaning if invalid."""
    ranks = document.known("ranks").get("ranks")
    return {
        "ranks": [[index.integer() for index in rank.items()] for rank in ranks.items()],
    }


def features(document: Document) -> set[str]:
    """Return the features that a program needs to give this meaning."""
    return {"ranks"} if len(list(Node(document).get("ranks").items())) > 1 else set()


def unshared(document: Document) -> Document:
    """Return the meaning unchanged, as no values are shared in it."""
    return document


def _indices(request: Node) -> Document:
    name = request.get("sampler").text()
    if name not in SAMPLERS:
        raise BadMeaning(f"unknown sampler {name!r}: choose one of {', '.join(SAMPLERS)}")
    labels = [cast(Json, each.value) for each in request.get("labels").items()]
    replicas = _number(request, "replicas", 1)
    ranks: list[Json] = []
    for rank in range(replicas):
        sampler = build_sampler(
            name,
            cast("list[int]", labels),
            request.get("n").integer(),
            request.get("m").integer(),
            shuffle=_flag(request, "shuffle", True),
            drop_last=_flag(request, "drop_last", False),
            rank=rank,
            num_replicas=replicas,
            seed=_number(request, "seed", 1234),
            compat=cast("Compat | None", request.get("compat").value),
        )
        sampler.set_epoch(_number(request, "epoch", 0))
        ranks.append([int(index) for index in sampler])
    return {"ranks": ranks}


def _number(request: Node, name: str, default: int) -> int:
    node = request.get(name)
    return default if node.missing else node.integer()


def _flag(request: Node, name: str, default: bool) -> bool:
    value = request.get(name).value
    return default if value is None else bool(value)
