"""The command line as `python -m exset`, and as the console script `exset`."""

import sys

from exset.core import supervised, supervisor


def main() -> int:
    """Run the command line, in another process if HDF5 may crash it; return the exit code."""
    if not supervised.connect() and supervisor.is_needed(sys.argv[1:]):
        try:
            return supervisor.run()
        except OSError as error:
            from exset.cli import fail

            return fail(error)
    from exset import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
