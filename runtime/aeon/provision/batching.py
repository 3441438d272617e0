"""Make the batches of an iteration: take records in order, decode them, handle bad records."""

from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from typing import Literal, TypeAlias, TypedDict

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.grammars.columns.arrays import Longs
from exset.runtime.aeon.provision.opening import Opened
from exset.runtime.aeon.provision.provider import Arrays, Request, Requests
from exset.runtime.aeon.provision.streams import DrawState

OnError: TypeAlias = Literal["raise", "skip", "blank"]


class LoaderState(TypedDict):
    """The position of a loader: the epoch in which the iteration began, and how far it has come.

    batches, records: how many batches and records the iteration has returned. seed: the seed of all
    random draws. draws: with `compat`, the states of aeon's generators.
    """

    epoch: int
    batches: int
    records: int
    seed: int
    draws: DrawState


class _Stream:
    """The records of an epoch, then of the next epoch, and so on without end."""

    def __init__(self, opened: Opened, epoch: int, skipped: int) -> None:
        """Begin with an epoch, and skip its first `skipped` records."""
        self._opened, self._epoch, self._skipped = opened, epoch, skipped

    def take(self, size: int) -> Requests:
        """Return requests for the next `size` records."""
        parts: list[Longs] = []
        ends: list[tuple[int, int]] = []  # where each epoch ends, and the epoch
        left = size
        while left:
            rows = self._opened.order.rows(self._epoch)
            parts.append(rows[self._skipped : self._skipped + left])
            left -= parts[-1].size
            ends.append((size - left, self._epoch))
            self._skipped += parts[-1].size
            if self._skipped >= rows.size:
                self._skipped, self._epoch = self._skipped - rows.size, self._epoch + 1
        taken = parts[0] if len(parts) == 1 else np.concatenate(parts)

        def request(index: int) -> Request:
            epoch = next(epoch for end, epoch in ends if index < end)
            return self._opened.request(int(taken[index]), epoch)

        if self._opened.provider.context.compat:  # the generators draw in the order of the records
            return Requests(taken, [*map(request, range(taken.size))].__getitem__)
        return Requests(taken, request)


@dataclass
class Batching:
    """Makes the batches of an iteration, in the thread that iterates over them."""

    opened: Opened
    on_error: OnError
    findings: Findings

    def batches(
        self, start: LoaderState
    ) -> Generator[tuple[Arrays | FormatError, LoaderState], None, None]:
        """Yield (batch, state) for each batch; the state is the state after this batch.

        A batch that failed is its FormatError. Raises FormatError if all records of an epoch are
        skipped.
        """
        opened, size = self.opened, self.opened.config.batch_size
        opened.draws.load_state_dict(start["draws"])
        epoch, records = start["epoch"], start["records"]
        stream = _Stream(opened, epoch, records)
        for number in count(start["batches"]):
            if self.is_over(number, records):
                return
            arrays = opened.provider.arrays(size)
            errors = opened.provider.provide(stream.take(size), arrays)
            records += size
            made: Arrays | FormatError = arrays
            if errors and self.on_error == "skip":
                records += self._replace(arrays, errors, stream)
            elif errors and self.on_error == "blank":
                self._note(errors)
            elif errors:
                made = errors[min(errors)]
            state: LoaderState = {
                "epoch": epoch,
                "batches": number + 1,
                "records": records,
                "seed": opened.division.seed,
                "draws": opened.draws.state_dict(),
            }
            yield made, state

    def is_over(self, batches: int, records: int) -> bool:
        """Return whether an iteration ends after this many batches and this many records."""
        config = self.opened.config
        if config["iteration_mode"] == "ONCE":
            return records >= self.opened.division.count
        return config["iteration_mode"] == "COUNT" and batches >= config.settings.number(
            "iteration_mode_count"
        )

    def beginning(self, epoch: int, draws: DrawState) -> LoaderState:
        """Return the state at the beginning of an epoch."""
        seed = self.opened.division.seed
        return {"epoch": epoch, "batches": 0, "records": 0, "seed": seed, "draws": draws}

    def next_epoch(self, state: LoaderState) -> int:
        """Return the epoch in which the next iteration begins if this iteration ends at `state`."""
        epoch, records = state["epoch"], state["records"]
        if not records:
            return epoch
        if self.opened.config["iteration_mode"] == "ONCE":
            return epoch + 1
        return epoch + -(-records // self.opened.division.count)

    def _replace(self, arrays: Arrays, errors: dict[int, FormatError], stream: _Stream) -> int:
        """Drop the bad records of a batch, and append the next good records of `stream`.

        Return how many records were taken from the stream. errors: the errors of the bad records,
        {row in the batch: error}.
        """
        size, taken = self.opened.config.batch_size, 0
        most = size + len(self.opened.provider.records)
        while errors:
            self._note(errors)
            if taken > most:
                raise errors[min(errors)]
            good = np.array([row for row in range(size) if row not in errors], np.int64)
            for array in arrays.values():
                array[: len(good)] = array[good]
                array[len(good) :] = 0
            requests = stream.take(len(errors))
            taken += len(requests)
            errors = self.opened.provider.provide(requests, arrays, len(good))
        return taken

    def _note(self, errors: dict[int, FormatError]) -> None:
        for row in sorted(errors):
            self.findings.add(errors[row].finding)
