"""Commands that read a large file: how much of it they read, and how much memory they take."""

from pathlib import Path

import pytest

import exset
from exset import Findings
from tests.cli.command_line import run
from tests.io.pipes import BEX, SET
from tests.peaks import peak_of

MIB = 1 << 20
LINES = b"".join(b"images/%06d.jpg\t%d\n" % (n, n % 10) for n in range(4_000))
FILES = {
    "x.tsv": b"@FILE\tASCII_INT\n" + LINES + b"x\n",
    "x.ex": b"I: 1 2 3; t: 4;\n" * 4_000 + b"@",
    "x.bex": exset.dumps(SET.select([0] * 4_000), format="bex")[:-1],
}
"""Files with an error at the end."""


@pytest.mark.parametrize("name", FILES)
def test_head_reads_only_the_first_units(folder: Path, name: str) -> None:
    Path(name).write_bytes(FILES[name])
    assert exset.validate(name).count() == 1
    shown = run("head", "-n", "2", name)
    assert shown.exit_code == 0 and not shown.stderr
    fmt = exset.formats.text_of(exset.detect(name)).name
    whole = exset.loads(shown.stdout, format=fmt, findings=Findings())
    assert len(whole) == 2
    assert run("head", "-n", "20000", name).exit_code == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
@pytest.mark.parametrize("name", FILES)
def test_head_takes_little_memory(folder: Path, name: str) -> None:
    Path(name).write_bytes(FILES[name])
    Path("few" + name).write_bytes(
        BEX if name == "x.bex" else FILES[name][:1000].rpartition(b"\n")[0]
    )
    assert peak_of("head", "-n", "1", name) < peak_of("head", "-n", "1", "few" + name) + 4 * MIB
