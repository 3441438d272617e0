"""Samplers, which choose the samples of each batch: M samples of each of N classes."""

from exset.runtime.samplers.base import BatchSampler, NxMSampler
from exset.runtime.samplers.nxm import ExhaustiveNxMSampler, RandomNxMSampler
from exset.runtime.samplers.planned import PlannedNxMSampler
from exset.runtime.samplers.registry import build_sampler, sampler_class

__all__ = [
    "BatchSampler",
    "ExhaustiveNxMSampler",
    "NxMSampler",
    "PlannedNxMSampler",
    "RandomNxMSampler",
    "build_sampler",
    "sampler_class",
]
