"""The command line as `python -m exset`."""

import sys

from exset.cli import main

sys.exit(main())
