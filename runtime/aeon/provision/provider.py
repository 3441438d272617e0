"""Provide records: decode their elements in threads, into new arrays."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.core.text import counted
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.config.outputs import Output
from exset.grammars.columns.arrays import Flags, Longs
from exset.runtime.aeon.provision.affinity import binder, usable
from exset.runtime.aeon.provision.etl import Context, Etl
from exset.runtime.aeon.provision.layout import DTYPES
from exset.runtime.aeon.provision.record import Record, Streams
from exset.runtime.aeon.provision.records import Records
from exset.runtime.aeon.provision.registry import etl_class
from exset.runtime.aeon.provision.tables import Tables

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The arrays of a batch, by name."""


@dataclass(frozen=True)
class Request:
    """A record to provide. row: its index among the selected records. streams: its random draws."""

    row: int
    epoch: int
    streams: Streams


@dataclass(frozen=True)
class Requests:
    """Records to provide, in order. rows: int64. request: returns the request for `rows[index]`."""

    rows: Longs
    request: Callable[[int], Request]

    def __len__(self) -> int:
        return self.rows.size


class Provider:
    """Provides the records of a configuration.

    outputs: the arrays of a batch, in the order of this version of aeon.
    """

    def __init__(
        self, context: Context, records: Records, threads: int, cores: Sequence[int] = ()
    ) -> None:
        """Prepare to decode the records in `threads` threads. If there are `cores`, bind the
        threads to them.

        Raises FormatError for etl objects that cannot work, for outputs of the same name, and for
        more etl objects than columns. Raises ImportError without a library that an etl object
        needs.
        """
        self.context, self.records = context, records
        self._threads: Final = threads
        self._cores = usable(cores)
        self._pool: ThreadPoolExecutor | None = None
        etl, columns = context.config.etl, len(records.manifest.types)
        if len(etl) > columns:
            has = counted(columns, "column")
            message = f"there are {len(etl)} etl objects, but the manifest has {has}"
            raise FormatError(message, place=Place(records.name), code="aeon-too-few-columns")
        self.etl: tuple[Etl, ...] = tuple(
            etl_class(each.type)(each, number, context) for number, each in enumerate(etl)
        )
        self._names = [[output.name for output in each.outputs] for each in self.etl]
        self._tables = Tables(self.etl, records.elements, len(records))
        found = [output for each in self.etl for output in each.outputs]
        names = [output.name for output in found]
        for name in names:
            if names.count(name) > 1:
                hint = 'give each etl object a "name"'
                message = f"two outputs have the name {name!r}"
                raise FormatError(message, hint=hint, code="aeon-loader")
        if context.is_seed:
            found.sort(key=lambda output: output.name.encode())
        self.outputs: tuple[Output, ...] = tuple(found)

    def arrays(self, count: int) -> Arrays:
        """Return the arrays of a batch of `count` records, filled with 0. Raises LimitError."""
        return new_arrays(self.outputs, count, self.context.limits)

    def provide(self, requests: Requests, arrays: Arrays, start: int = 0) -> dict[int, FormatError]:
        """Write records into the rows of the arrays, beginning at row `start`. Return {row: error}.

        The rows of records with errors are filled with 0.
        """
        part = slice(start, start + len(requests))
        done = np.zeros((len(self.etl), len(requests)), np.bool_)
        for number, names in enumerate(self._names):
            slots = [arrays[name][part] for name in names]
            done[number] = self._tables.fill(requests.rows, number, slots)
        needed = np.flatnonzero(~done.all(axis=0)).tolist()
        rest = needed[::-1]  # its last item is for the next thread that is free
        errors: dict[int, FormatError] = {}

        def work() -> None:
            while rest:
                try:
                    index = rest.pop()
                except IndexError:  # another thread has taken the last one
                    return
                row = start + index
                try:
                    self._provide(requests.request(index), arrays, row, done[:, index])
                except FormatError as error:
                    errors[row] = error
                    for array in arrays.values():
                        array[row] = 0

        workers = min(self._threads, len(needed))
        if workers <= 1 and not self._cores:
            work()
            return errors
        if self._pool is None:
            name = "exset provision"
            self._pool = ThreadPoolExecutor(self._threads, name, binder(self._cores))
        futures = [self._pool.submit(work) for _ in range(workers)]
        try:
            for future in futures:
                future.result()
        finally:
            rest.clear()
            for future in futures:
                future.exception()
        return errors

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_pool": None}

    def _provide(self, request: Request, arrays: Arrays, row: int, done: Flags) -> None:
        """Decode a record, and write it into row `row` of the arrays.

        done: for each etl object, whether its arrays are already written. Raises FormatError; its
        message names the record and the element.
        """
        record = Record(self.records.index(request.row), request.epoch, request.streams)
        for number, each in enumerate(self.etl):
            if done[number]:
                continue
            slots = [arrays[name][row, ...] for name in self._names[number]]
            is_read = False
            try:
                element = self.records.elements.element(request.row, number)
                is_read = True  # an error of reading already names the file
                if not element:
                    raise FormatError("the element is empty")
                each.provide(element, record, slots)
            except FormatError as error:
                raise self._placed(error, request.row, each, is_read) from None

    def _placed(self, error: FormatError, row: int, etl: Etl, name_file: bool) -> FormatError:
        file = self.records.elements.file(row, etl.number) if name_file else None
        finding = finding_at(
            "aeon-record",
            self.records.place(row, etl.number),
            record=self.records.index(row),
            title=f"etl[{etl.number}] ({etl.settings.type})",
            file=f", {file}" if file else "",
            why=error.message,
            hint=error.hint or "",
        )
        return FormatError.of(finding)


def new_arrays(outputs: Iterable[Output], count: int, limits: Limits) -> Arrays:
    """Return an array for each output, with `count` rows of 0. Raises LimitError."""
    found = [(each, np.dtype(DTYPES[each.dtype])) for each in outputs]
    size = count * sum(prod(each.shape) * dtype.itemsize for each, dtype in found)
    if size > limits.max_batch:
        message = f"a batch has {size:,} bytes, more than the limit of {limits.max_batch:,}"
        raise LimitError(message, hint=limit_hint("max_batch"))
    return {each.name: np.zeros((count, *each.shape), dtype) for each, dtype in found}
