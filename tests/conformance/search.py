"""Find every planted fault by drawn files alone, and print the number of files that it takes.

python -m tests.conformance.search [FAULT...]
"""

import sys
import time

from exset.testing.conformance import FunctionReader
from exset.testing.conformance.generated import search
from tests.conformance.faults import FAULTS
from tests.conformance.right_reader import RightReader


def main() -> int:
    names = sys.argv[1:] or list(FAULTS)
    missed = 0
    for name in names:
        begin = time.perf_counter()
        found = search(FunctionReader(RightReader(name)), "ex", 2000)
        seconds = time.perf_counter() - begin
        if found is None:
            missed += 1
            print(f"{name}: not found, {seconds:.1f} s")
            continue
        print(
            f"{name}: file {found.draws}, {found.result.case.data!r}, {seconds:.1f} s", flush=True
        )
    print(f"{len(names) - missed} of {len(names)} faults found within 2,000 files")
    return missed


if __name__ == "__main__":
    sys.exit(bool(main()))
