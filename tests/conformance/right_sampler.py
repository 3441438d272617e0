"""Exset's own samplers with faults: changes of the request or of the indices, and nothing else."""

import json

from exset.testing.conformance.nodes import Document, Json
from exset.testing.conformance.samplers import meaning_of

_DROPPED = {
    "epoch-ignored": "epoch",
    "seed-ignored": "seed",
    "last-batch-kept": "drop_last",
    "always-shuffles": "shuffle",
    "one-rank": "replicas",
    "no-compat": "compat",
}
"""The faults that lose a member of the request."""


class RightSampler:
    """Answers a request: call it with the bytes; it raises ValueError to refuse them."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes) -> Document:
        request = json.loads(data)
        for fault, member in _DROPPED.items():
            if fault in self.faults:
                request.pop(member, None)
        order = list(range(len(request["labels"])))
        if "classes-sorted" in self.faults:
            order.sort(key=lambda item: str(request["labels"][item]))
            request["labels"] = [request["labels"][item] for item in order]
        if "swaps-sizes" in self.faults:
            request["n"], request["m"] = request["m"], request["n"]
        if "zero-is-one" in self.faults:
            request["n"], request["m"] = max(request["n"], 1), max(request["m"], 1)
        if "unknown-is-planned" in self.faults and request["sampler"] == "best":
            request["sampler"] = "planned"
        if "fewer-classes" in self.faults:
            request["n"] = min(request["n"], len(set(request["labels"])))
        ranks = meaning_of(json.dumps(request).encode())["ranks"]
        assert isinstance(ranks, list)
        ranks = ranks[::-1] if "ranks-back" in self.faults else ranks
        return {"ranks": [self.indices(rank, order) for rank in ranks]}

    def indices(self, drawn: object, order: list[int]) -> list[Json]:
        assert isinstance(drawn, list)
        rank = [order[index] for index in drawn]
        if "from-one" in self.faults:
            return [index + 1 for index in rank]
        if "each-once" in self.faults:
            return [*dict.fromkeys(rank)]
        return [*sorted(rank)] if "in-order" in self.faults else [*rank]
