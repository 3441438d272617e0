"""Named pipes, and threads that write to them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Queue

import exset
from exset import ExampleSet, samples

XOR = samples.read("xor.ex").data
SET = exset.loads(XOR, model=ExampleSet)
TEXT = exset.dumps(SET, format="ex")
BEX = exset.dumps(SET, format="bex")
SECONDS = 120  # kernels may have to be compiled first

Pipe = Callable[[str], str]
"""The fixture `pipe`: makes a pipe of that name in the folder."""


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    """Do something in a thread; what it raises is raised at the end."""
    done: Queue[BaseException | None] = Queue()

    def run() -> None:
        try:
            act()
            done.put(None)
        except BaseException as error:
            done.put(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield
    if (error := done.get(timeout=SECONDS)) is not None:
        raise error
