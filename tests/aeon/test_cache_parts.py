"""Read a cache in parts, its blocks: the results are those of the cache as a whole."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.command_line import run

MANIFEST = "@STRING\tASCII_INT\n" + "".join(f"name{i}\t{i}\n" for i in range(3000))


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Caches: whole, incomplete, with a damaged block, without a block, with another width."""
    monkeypatch.chdir(tmp_path)
    Path("wide").mkdir()
    Path("m.tsv").write_text(MANIFEST)
    Path("wide.tsv").write_text("@STRING\tSTRING\tSTRING\na\tb\tc\n")
    assert run("cache", "build", "m.tsv", ".", "--block-size", "700").exit_code == 0
    assert run("cache", "build", "wide.tsv", "wide").exit_code == 0
    [whole] = map(str, Path().glob("aeon_cache_*"))
    [wide] = map(str, Path("wide").glob("aeon_cache_*"))
    made = [whole]
    for name in ("incomplete", "damaged", "gap", "other"):
        made.append(f"{name}/{whole}")
        shutil.copytree(whole, made[-1])
    Path(made[1], "cache_complete").unlink()
    Path(made[2], "block_2.cpio").write_bytes(b"damaged")
    Path(made[3], "block_1.cpio").unlink()
    shutil.copy(f"{wide}/block_0.cpio", f"{made[4]}/block_3.cpio")
    return made


@pytest.mark.parametrize("command", ["validate -v", "info -v --json", "stats", "info --strict"])
def test_commands(command: str, caches: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*command.split(), *caches]
    expected = run(*words)
    assert expected.exit_code == 1
    monkeypatch.setattr("exset.cli.dividing._LARGE", 1000)
    run(*words, "--plan", "plan")
    rows = [json.loads(line) for line in Path("plan").read_text().splitlines()]
    assert [row["part"] for row in rows[:4]] == ["1/4", "2/4", "3/4", "4/4"]
    for flags in ([], ["--journal", "j"], ["--journal", "j", "--resume"]):
        done = run(*words, *flags)
        assert (done.stdout, done.stderr) == (expected.stdout, expected.stderr)
        assert done.exit_code == 1
