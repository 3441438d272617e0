"""The random draws of records: from keys, or, as in aeon, from generators with a state."""

from functools import cache
from typing import Final, Protocol, TypeAlias
from zlib import crc32

from exset.runtime.aeon.provision.draws import Draws, Kept
from exset.runtime.aeon.provision.record import Streams
from exset.runtime.training.generator import number

DrawState: TypeAlias = dict[str, list[int | float | None]]
"""The states of random generators, for `state_dict`."""

_SEEDS: Final = (1 << 31) - 2
_DECODED: Final = 8
"""The least number of records that aeon decodes at once, for each of its threads."""


class DrawSource(Protocol):
    """A source of random draws for each record."""

    def streams(self, index: int, epoch: int) -> Streams:
        """Return a function that gets a purpose, such as "picture", and returns random numbers for
        it.

        The numbers are those of the record `index` in the epoch `epoch`.
        """

    def state_dict(self) -> DrawState:
        """Return the states of the generators that several records share."""

    def load_state_dict(self, state: DrawState) -> None:
        """Continue from states that `state_dict` returned."""


class Keyed:
    """Draws that depend on seed, epoch, record and purpose alone."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._epoch = 0, number(seed, 0)

    def streams(self, index: int, epoch: int) -> Streams:
        """Return a function that gets a purpose, such as "picture", and returns random numbers for
        it.

        index: of the record. Each call of the returned function begins again with the first number.
        """
        last, of_epoch = self._epoch
        if epoch != last:
            of_epoch = number(self._seed, epoch)
            self._epoch = epoch, of_epoch
        key = number(of_epoch, index)
        return lambda purpose: Draws(number(key, _code(purpose)) % _SEEDS + 1)

    def state_dict(self) -> DrawState:
        """Return an empty state."""
        return {}

    def load_state_dict(self, state: DrawState) -> None:
        """Do nothing."""


@cache
def _code(purpose: str) -> int:
    return crc32(purpose.encode())


class Slots:
    """The draws of aeon's last version: several generators. Each record uses the next generator."""

    def __init__(self, seed: int, batch_size: int, threads: int) -> None:
        """Start the generators as aeon does.

        seed: of the generator that draws the seeds of the others. threads: the number of threads in
        which aeon decodes a batch.
        """
        size = batch_size * ((_DECODED * threads - 1) // batch_size + 1)
        first, self._kept = Draws(seed), Kept()
        self._slots = [Draws(first.next(), self._kept) for _ in range(size)]
        self._next = 0

    def streams(self, index: int, epoch: int) -> Streams:
        """Return a function that gets a purpose and returns the random numbers of the next record.

        All purposes share the same numbers. Use the numbers before the next call of `streams`.
        `index` and `epoch` have no effect.
        """
        draws = self._slots[self._next]
        self._next = (self._next + 1) % len(self._slots)
        return lambda purpose: draws

    def state_dict(self) -> DrawState:
        """Return the states of the generators."""
        states: list[int | float | None] = [each.state for each in self._slots]
        return {"slots": states, "next": [self._next], "kept": [self._kept.to_float()]}

    def load_state_dict(self, state: DrawState) -> None:
        """Continue from states that `state_dict` returned."""
        self._kept = Kept.of(state["kept"][0])
        self._slots = [Draws(int(each or 0), self._kept) for each in state["slots"]]
        self._next = int(state["next"][0] or 0)


class Sequences:
    """The draws of aeon of April 2017. Each purpose, such as "picture", has its own generator with
    the seed 1.
    """

    def __init__(self) -> None:
        self._draws: dict[str, Draws] = {}

    def streams(self, index: int, epoch: int) -> Streams:
        """Return a function that gets a purpose and returns its random numbers for the next
        record.

        `index` and `epoch` have no effect.
        """
        return lambda purpose: self._draws.setdefault(purpose, Draws(1))

    def state_dict(self) -> DrawState:
        """Return the states of the generators."""
        return {name: [each.state, each.kept.to_float()] for name, each in self._draws.items()}

    def load_state_dict(self, state: DrawState) -> None:
        """Continue from states that `state_dict` returned."""
        self._draws = {
            name: Draws(int(seed or 0), Kept.of(kept)) for name, (seed, kept) in state.items()
        }
