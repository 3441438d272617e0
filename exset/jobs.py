"""Run a function on many files: in this process, in several, or on any executor."""

from exset.core.jobs import Execution as Execution
from exset.core.jobs import Jobs as Jobs
from exset.core.jobs import WorkerError as WorkerError
from exset.core.jobs import run as run
from exset.core.outcome import Outcome as Outcome
