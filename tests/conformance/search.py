"""Find every planted fault by drawn files alone, and print the number of files that it takes.

python -m tests.conformance.search [FORMAT [FAULT...]]
"""

import sys
import time

from exset.testing.conformance import FunctionReader
from exset.testing.conformance.generated import search
from tests.conformance.faults import FAULTS
from tests.conformance.more_faults import MORE_FAULTS, READERS
from tests.conformance.right_reader import RightReader

_ALL = {"ex": FAULTS, **MORE_FAULTS}
_READERS = {"ex": RightReader, **READERS}


def main() -> int:
    format, *chosen = sys.argv[1:] or [""]
    pairs = [
        (each, fault)
        for each, faults in _ALL.items()
        for fault in chosen or faults
        if format in ("", each)
    ]
    missed = 0
    for each, fault in pairs:
        begin = time.perf_counter()
        found = search(FunctionReader(_READERS[each](fault)), each, 2000)
        seconds = time.perf_counter() - begin
        missed += found is None
        shown = "not found"
        if found is not None:
            shown = f"file {found.draws}, {found.result.case.data[:90]!r}"
        print(f"{each} {fault}: {shown}, {seconds:.1f} s", flush=True)
    print(f"{len(pairs) - missed} of {len(pairs)} faults found within 2,000 files")
    return missed


if __name__ == "__main__":
    sys.exit(bool(main()))
