"""Find samplers by name, for configurations."""

from inspect import signature
from typing import Any, Final, cast

from exset.core.plugins import loaded, points
from exset.runtime.samplers.base import Compat, NxMSampler
from exset.runtime.samplers.grouping import Labels
from exset.runtime.samplers.nxm import ExhaustiveNxMSampler, RandomNxMSampler
from exset.runtime.samplers.planned import PlannedNxMSampler, Weights

GROUP: Final = "exset.samplers"
"""The group of entry points with which other packages add samplers."""

_BALR = "balr.samplers.nxm_samplers"
SAMPLERS: Final[dict[str, type[NxMSampler]]] = {
    "random": RandomNxMSampler,
    "exhaustive": ExhaustiveNxMSampler,
    "planned": PlannedNxMSampler,
}


def sampler_class(name: str) -> type[NxMSampler]:
    """Return the sampler class that `name` names.

    `name`: a key of `SAMPLERS`, the name of a class in it, BA-LR's dotted path of the class, or an
    entry point of the group exset.samplers. Other modules are never imported. Raises ValueError for
    an unknown name, and FormatError for an entry point that cannot be used.
    """
    classes = {each.__name__: each for each in SAMPLERS.values()}
    known = {**SAMPLERS, **classes}
    for each in (RandomNxMSampler, ExhaustiveNxMSampler):
        known[f"{_BALR}.{each.__name__}"] = each
    if name in known:
        return known[name]
    others = points(GROUP)
    for other in others:
        if other.name == name:
            return cast("type[NxMSampler]", loaded(other, type))
    names = ", ".join([*SAMPLERS, *sorted(each.name for each in others)])
    raise ValueError(f"unknown sampler {name!r}: choose one of {names}")


def build_sampler(
    sampler_path: str,
    labels: Labels,
    N_classes_per_batch: int,
    M_samples_per_class: int,
    batch_size: int | None = None,
    shuffle: bool = True,
    drop_last: bool = False,
    rank: int = -1,
    *,
    num_replicas: int | None = None,
    seed: int = 1234,
    compat: Compat | None = None,
    weights: Weights | None = None,
) -> NxMSampler:
    """Return a new sampler of the class that `sampler_class` returns for `sampler_path`.

    `compat` is for BA-LR's samplers, `weights` for the planned sampler. The other arguments, and
    the errors, are those of the sampler's class. Also raises ValueError for an argument that the
    class lacks.
    """
    cls = sampler_class(sampler_path)
    given = {"compat": compat, "weights": weights}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if unknown := options.keys() - signature(cls).parameters.keys():
        raise ValueError(f"{cls.__name__} has no argument {unknown.pop()!r}")
    sizes = (N_classes_per_batch, M_samples_per_class, batch_size)
    return cls(labels, *sizes, shuffle, drop_last, num_replicas, rank, seed, **options)
