"""Executors of clusters, for `exset.jobs.run`. The workers must have the same version of exset.

Paths and options go to the workers, and values come back, as pickles: trust the scheduler and
everybody who may connect to the scheduler.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import ParamSpec, TypeVar

import exset
from exset.core.jobs import Execution, WorkerError

P = ParamSpec("P")
R = TypeVar("R")

_PATIENCE = 20  # seconds


class SameVersion(Executor):
    """Runs calls on another executor, whose workers must have this version of exset."""

    def __init__(self, executor: Executor) -> None:
        """Run calls on `executor`, which this object does not close."""
        self._executor = executor

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Call a function on a worker. If its exset has another version, the result is an error.

        This error is a WorkerError.
        """
        return self._executor.submit(run_checked, exset.__version__, fn, *args, **kwargs)


def run_checked(version: str, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function in a worker. Raises WorkerError if exset has another version there."""
    if exset.__version__ != version:
        message = f"a worker has exset {exset.__version__}, not {version}: install one version"
        raise WorkerError(message)
    return fn(*args, **kwargs)


@contextmanager
def dask(address: str) -> Iterator[Execution]:
    """Connect to a Dask scheduler, such as `tcp://host:8786`; yield an `Execution` on its workers.

    Raises ImportError without the extra `dask`, and OSError if the scheduler does not answer.
    Raises WorkerError if the scheduler has no workers, or if a worker has no exset or another
    version of exset.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("a Dask scheduler needs Dask: pip install 'exset[dask]'") from None
    with Client(address, timeout=_PATIENCE, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise WorkerError(f"the scheduler {address} has no workers") from None
        # Code of exset itself would be no code in a worker that lacks exset.
        versions = client.run(resolve_name, "exset:__version__", on_error="return")
        for name, found in versions.items():
            if isinstance(found, Exception):
                raise WorkerError(f"the worker {name} lacks exset: {found}")
            if found != exset.__version__:
                message = f"the worker {name} has exset {found}, not {exset.__version__}"
                raise WorkerError(f"{message}: install one version")
        executor = SameVersion(client.get_executor())
        yield Execution(sum(client.nthreads().values()), executor)
