"""Fuzz formats and folders: `python -m tests.fuzz`; the options of `exset.testing.fuzz`."""

import sys

from exset.testing.fuzz import main
from tests.fuzz.targets import all_targets

if __name__ == "__main__":
    sys.exit(main(targets=all_targets()))
