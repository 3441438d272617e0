"""aeon's loader: batches of a configuration, epoch after epoch."""

from collections.abc import Generator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial
from operator import index
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.core.callers import public
from exset.core.errors import Findings, FormatError
from exset.core.limits import DEFAULT, Limits
from exset.grammars.aeon.config.model import LoaderConfig
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.aeon.provision.batching import Batching, LoaderState, OnError
from exset.runtime.aeon.provision.opening import Compat, Given, Options, open_loader
from exset.runtime.aeon.provision.provider import Arrays
from exset.runtime.arrays import Device, on_device
from exset.runtime.training.prefetch import Prefetcher
from exset.runtime.training.streamed_transfer import transfer
from exset.runtime.training.transfer import Sent, Transfer

Batch: TypeAlias = tuple[tuple[str, NDArray[Any]], ...] | dict[str, NDArray[Any]]
"""Pairs of name and array; for aeon of April 2017 a dict."""
_Made: TypeAlias = tuple[Sent | FormatError, LoaderState]


class DataLoader:
    """aeon's loader: it decodes and augments the records of a manifest, and makes batches of them.

    `config`: a dict, a `LoaderConfig`, JSON, or the path of a JSON file. `device`: "cpu", or "cuda"
    for arrays of CuPy. `version`: "head", aeon's last version (2020), or "seed", the version of
    April 2017; by default the first of the two that accepts the configuration. `compat="aeon"`
    gives aeon's own values, random draws and order, on one thread, with aeon's defects. By default
    exset avoids these defects, and results depend only on seed, epoch and record.

    `on_error`: what to do with a record that cannot be provided. "raise": raise an error; `next`
    then continues with the following batch. "skip": use the next record instead. "blank": fill the
    record's row with 0. `findings` collects a finding for each skipped or blank record. `threads`:
    the number of threads that decode, by default one for each core. `prefetch`: the number of
    batches that are made in advance. `scaled_decoding`: decode JPEGs at 1/2, 1/4 or 1/8 of their
    size if the cropped part is still as large as the output. This is faster, but changes values,
    and is not possible with `compat`. `base`: the current folder of aeon, for relative paths.
    `access`: its roots are the folders that must contain all files.

    Iteration yields batches: tuples of (name, array) in the order of the etl objects, or dicts for
    "seed". Arrays are new, [batch_size, shape]. Each `for` loop is another epoch; the last batch is
    filled from the next epoch. `len` is the number of records, as in aeon.

    Raises FormatError for a configuration or manifest that cannot work, ImportError without the
    libraries of the extra `provision`, ValueError for invalid arguments, and OSError.
    """

    @public
    def __init__(
        self,
        config: Given,
        device: Device | None = None,
        *,
        version: Literal["head", "seed"] | None = None,
        compat: Compat = None,
        on_error: OnError = "raise",
        threads: int | None = None,
        prefetch: int = 2,
        scaled_decoding: bool = False,
        base: str = "",
        access: Access = DEFAULT_ACCESS,
        findings: Findings | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        if index(prefetch) < 0:
            raise ValueError(f"prefetch must be at least 0, not {prefetch}")
        if on_error not in ("raise", "skip", "blank"):
            raise ValueError(f"on_error must be raise, skip or blank, not {on_error!r}")
        self.device: Device = "cpu" if device is None else device
        with on_device(self.device):
            pass
        tolerant = on_error != "raise"
        options = Options(version, compat, threads, tolerant, base, access, limits, scaled_decoding)
        opened = open_loader(config, options, findings)
        self.findings = Findings() if findings is None else findings
        self.prefetch = prefetch
        self._batching = Batching(opened, on_error, self.findings)
        self._start = self._last = self._batching.beginning(0, opened.draws.state_dict())
        self._running: Prefetcher[_Made] | Generator[_Made, None, None] | None = None
        self._carrier: Transfer | None = None

    def __repr__(self) -> str:
        types = " ".join(each.type for each in self._config.etl)
        return f"DataLoader({types}, {len(self)} records, batch_size {self.batch_size})"

    @property
    def batch_size(self) -> int:
        """The number of records in a batch."""
        return self._config.batch_size

    @property
    def ndata(self) -> int:
        """The number of records of this node in an epoch."""
        return self._batching.opened.division.count

    def __len__(self) -> int:
        """Return the number of records in an epoch."""
        return self.ndata

    @property
    def config(self) -> dict[str, object]:
        """The given configuration as a dict."""
        return self._config.to_dict()

    @property
    def version(self) -> str:
        """The version of aeon for which the configuration is read."""
        return self._config.dialect

    @property
    def epoch(self) -> int:
        """The epoch in which the iteration began, from 0."""
        return self._last["epoch"]

    @property
    def axes_info(self) -> Any:
        """The axes of each array, except the batch's axis: as tuples, or as dicts for "seed"."""
        axes = {
            each.name: tuple(zip(each.axes, each.shape, strict=True))
            for each in self._batching.opened.provider.outputs
        }
        if self.version == "seed":
            return {name: dict(each) for name, each in axes.items()}
        return tuple(axes.items())

    @property
    def shapes_and_dtypes(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """The shape and the dtype of each array of a batch."""
        arrays = self._batching.opened.provider.arrays(0)
        size = self.batch_size
        found = {name: ((size, *array.shape[1:]), array.dtype) for name, array in arrays.items()}
        if self._is_batch_major:
            return found
        return {
            name: ((int(np.prod(shape[1:])), size), dtype) for name, (shape, dtype) in found.items()
        }

    def __iter__(self) -> Self:
        """Begin the next epoch, or continue at the state that was loaded.

        Return the loader itself.
        """
        self.reset()
        return self

    def __next__(self) -> Batch:
        """Return the next batch. Raises FormatError for a record that cannot be provided."""
        if self._running is None:
            with on_device(self.device) as xp:
                self._carrier = transfer(xp)
            made = _made(self._batching, self._start, self._is_batch_major, self._carrier)
            self._running = Prefetcher(made, self.prefetch) if self.prefetch else made
        sent, self._last = next(self._running)
        if isinstance(sent, FormatError):
            raise sent
        assert self._carrier is not None
        arrays = self._carrier.receive(sent)
        return arrays if self.version == "seed" else tuple(arrays.items())

    def reset(self) -> None:
        """End the iteration; the next one begins with the next epoch."""
        if self._running is not None:
            self.set_epoch(self._batching.next_epoch(self._last))

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch with which the next iteration begins; the first epoch is 0."""
        self._end()
        self._start = self._last = self._batching.beginning(index(epoch), self._last["draws"])

    def state_dict(self) -> LoaderState:
        """Return the position after the batch that was returned last."""
        return deepcopy(self._last)

    def load_state_dict(self, state: LoaderState) -> None:
        """Continue at a position that another loader of an equal configuration returned.

        Raises ValueError if `state` is not a state of a loader.
        """
        if not isinstance(state, Mapping) or state.keys() != self._last.keys():
            raise ValueError(f"a state must have the keys {', '.join(self._last)}")
        self._end()
        batching = self._batching
        if state["seed"] != batching.opened.division.seed:
            batching.opened = batching.opened.with_seed(state["seed"])
        self._start = self._last = deepcopy(state)

    def close(self) -> None:
        """End the iteration and all threads."""
        self._end()
        self._batching.opened.provider.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(AttributeError):  # __init__ has failed
            self.close()

    @property
    def _config(self) -> LoaderConfig:
        return self._batching.opened.config

    @property
    def _is_batch_major(self) -> bool:
        members = self._config.settings.members
        return "batch_major" not in members or bool(self._config["batch_major"])

    def _end(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None


# No method: the thread that runs it would keep a loader alive that nobody uses.
def _made(
    batching: Batching, start: LoaderState, is_batch_major: bool, carrier: Transfer
) -> Generator[_Made, None, None]:
    """Yield (batch, state) for each batch, after starting to copy it to the device.

    The state is the state after the batch. A batch that failed is its error. is_batch_major:
    whether the batch is the first axis of arrays. carrier: copies arrays to the device.
    """
    try:
        for made, state in batching.batches(start):
            if isinstance(made, FormatError):
                yield made, state
            else:
                arranged = partial(_arranged, made, is_batch_major)
                yield carrier.send(arranged), state
    finally:
        carrier.close()


def _arranged(arrays: Arrays, is_batch_major: bool) -> Arrays:
    """Return the arrays. If `is_batch_major` is false, the batch becomes their last axis."""
    if is_batch_major:
        return arrays
    return {
        name: np.ascontiguousarray(array.reshape(len(array), -1).T)
        for name, array in arrays.items()
    }
