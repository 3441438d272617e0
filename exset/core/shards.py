"""A share of the work on many files, named by a text or by a cluster's environment variables."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exset.core.outcome import Item

# The innermost program that started this process comes first.
_RANKS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("PMI_RANK", "PMI_SIZE"),  # MPICH, Intel MPI
    ("RANK", "WORLD_SIZE"),  # torchrun
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),  # srun
    ("PBS_VNODENUM", "PBS_NP"),  # pbsdsh
)
_ARRAY = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX")


@dataclass(frozen=True)
class Shard:
    """Share `index` (from 1) of `count` shares of the work: every `count`-th unit is in it."""

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise ValueError(f"a share must be I/N with I from 1 to N, not {self}")

    @classmethod
    def parse(cls, text: str, environment: Mapping[str, str] = os.environ) -> "Shard":
        """Return the share that a text such as `2/8` names.

        For `auto`, return the share that a cluster's environment variables name. Raises ValueError
        for another text, and for an environment that names no share.
        """
        if text == "auto":
            return cls.of_environment(environment)
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal()):
            raise ValueError(f"a share must be I/N, such as 2/8, or auto, not '{text}'")
        return cls(int(index), int(count))

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> "Shard":
        """Return the share that a cluster's environment variables give to this task.

        In a job array of Slurm, each task of each job has its own share.
        """
        pairs = [(environment.get(rank, ""), environment.get(size, "")) for rank, size in _RANKS]
        found = [tuple(map(int, pair)) for pair in pairs if all(map(str.isdecimal, pair))]
        rank, size = found[0] if found else (0, 1)
        array = [environment.get(name, "") for name in _ARRAY]
        if all(each.isdecimal() for each in array):
            task, first, last = map(int, array)
            step = int(environment.get("SLURM_ARRAY_TASK_STEP") or 1)
            rank += (task - first) // step * size
            size *= (last - first) // step + 1
        elif not found:
            reason = "no variable of Slurm, Flux, MPI, PBS or torchrun is set"
            if "PBS_ARRAY_INDEX" in environment:
                reason = "PBS tells no task of an array how many there are; "
                reason += "for N tasks, write $PBS_ARRAY_INDEX/N"
            raise ValueError(f"auto finds no share: {reason}")
        return cls(rank + 1, size)

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return the `items` that belong to this share, in order."""
        return items[self.index - 1 :: self.count]

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"
