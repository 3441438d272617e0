"""`mpirun -n N python -m exset.mpi COMMAND`: rank 0 runs a command, other ranks do its work."""

import sys
from concurrent.futures import Executor
from typing import cast

from exset.cli import main
from exset.core.jobs import Execution
from exset.executors import SameVersion


def run() -> int:
    """Run the command line on rank 0, with all other ranks as workers; return the exit code."""
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except ImportError:
        print("exset.mpi needs mpi4py: pip install 'exset[mpi]'", file=sys.stderr)
        return 2
    size = MPI.COMM_WORLD.Get_size()
    if size == 1:
        return main()
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
        if executor is None:
            return 0
        try:
            return main(Execution(size - 1, SameVersion(cast(Executor, executor))))
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0


if __name__ == "__main__":
    sys.exit(run())
