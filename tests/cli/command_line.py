"""The command line, as tests run it."""

from importlib.util import find_spec

import pytest
from click.testing import CliRunner, Result

from exset.cli import cli

CAN_DRAW = find_spec("matplotlib") is not None
DRAWN = pytest.mark.skipif(not CAN_DRAW, reason="the extra plot is not installed")


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    """Run the command line; there is never a traceback."""
    result = CliRunner().invoke(cli, [*map(str, arguments)], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert "Traceback" not in result.stderr
    return result
