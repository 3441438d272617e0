"""`--journal`, `--resume`, `--shard` and `exset gather` of all commands that have them."""

import os
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Lock
from typing import Any

import h5py
import pytest
from click.testing import CliRunner

from exset.cli import cli
from exset.core.jobs import Execution
from tests.cli.command_line import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(5):
        with h5py.File(f"{number}.h5", "w", track_order=True) as file:
            for sample in range(number):
                file[f"run/{sample}/x"] = float(sample)
    Path("bad.ex").write_text("I: 1 five;\nI: 1 T: 1; name: {a b\n")
    Path("bare.ex").write_text("name: word I: 1 T: 1;")
    assert run("list", "build", ".", "-o", "all.sample_list").exit_code == 0
    text = Path("all.sample_list").read_text().replace("10 0 4", "11 0 5")
    Path("all.sample_list").write_text(text + "none.h5 1 0 run/0\n")
    assert run("schema", "build", ".", "-o", "d.yaml", "--experiment", "e.yaml").exit_code == 0


CASES = [
    ("validate -v exset::* bad.ex bare.ex none.ex", "", ["--json"]),
    ("validate --strict exset::* bad.ex bare.ex none.ex", "-v", []),
    ("info exset::* bad.ex", "", []),
    ("stats exset::*", "", ["--json"]),
    ("validate --files all.sample_list", "", []),
    ("list build . 3.h5", "-o new.sample_list", []),
    ("list build . --kind conduit_hdf5_exclusion", "-o new.sample_list", ["--json"]),
    ("schema check d.yaml e.yaml all.sample_list", "", []),
    ("schema check d.yaml e.yaml --sample 4.h5 run/1", "", []),
    ("schema build . --normalise unit", "-o new.yaml --experiment new-e.yaml", []),
    ("convert -o out/ --to npz exset::xor*.ex bad.ex", "", ["--json"]),
]


@pytest.mark.parametrize(("command", "outputs", "flags"), CASES)
def test_shares_and_gather_equal_one_run(command: str, outputs: str, flags: list[str]) -> None:
    words, given = command.split(), outputs.split()
    whole = run(*words, *given, *flags)
    expected = contents()
    for name in ("new.sample_list", "new.yaml", "new-e.yaml"):
        Path(name).unlink(missing_ok=True)
    for path in Path("out").glob("*"):
        path.unlink()
    for index in (3, 1, 2):
        done = run(*words, "--shard", f"{index}/3", "--journal", "shares/")
        assert done.exit_code == 0 and f"share {index}/3" in done.stderr, done.output
        assert not done.stdout
    gathered = run("gather", "shares/*", *given, *flags)
    assert gathered.stdout == whole.stdout, gathered.stderr
    assert gathered.stderr == whole.stderr
    assert gathered.exit_code == whole.exit_code
    assert contents() == expected


class Pickling(Executor):
    """An executor that pickles what it gets and gives, and that no worker can get itself."""

    def __init__(self) -> None:
        self.lock = Lock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        call, given, named = pickle.loads(pickle.dumps((fn, args, kwargs)))
        done.set_result(pickle.loads(pickle.dumps(call(*given, **named))))
        return done


@pytest.mark.parametrize(("command", "outputs", "flags"), CASES)
def test_an_executor_gives_what_one_run_gives(command: str, outputs: str, flags: list[str]) -> None:
    words = [*command.split(), *outputs.split(), *flags]
    results = []
    for how in (None, Execution(2, Pickling())):
        done = CliRunner().invoke(cli, words, obj=how)
        results.append((done.exit_code, done.stdout, done.stderr, contents()))
    assert results[0] == results[1] and results[0][0] in (0, 1, 3)


def contents() -> dict[str, bytes]:
    """The files that commands write."""
    paths = [*Path().glob("new*"), *Path().glob("out/*")]
    return {str(path): path.read_bytes() for path in paths}


def test_a_resumed_conversion_writes_what_is_missing_or_changed() -> None:
    words = ["convert", "-o", "out/", "--to", "bex", "exset::xor*.ex", "--journal", "j"]
    assert run(*words).exit_code == 0
    expected = contents()
    names = sorted(expected)
    Path(names[0]).unlink()
    Path(names[1]).write_bytes(b"damaged")
    kept = os.stat(names[2]).st_mtime_ns
    assert "exists already" in run(*words).stderr
    assert run(*words, "--resume").exit_code == 0
    assert contents() == expected and os.stat(names[2]).st_mtime_ns == kept


def test_errors() -> None:
    assert "need --journal" in run("info", "exset::*", "--shard", "1/2").stderr
    assert "a share must be" in run("info", "exset::*", "--shard", "3/2").stderr
    assert run("info", "exset::*", "--shard", "1/2", "--journal", "s/").exit_code == 0
    done = run("gather", "s/*", "--json")
    assert done.exit_code == 1 and "share 2 of 2 is missing [shares-missing]" in done.stderr
    Path("j").write_text('{"journal": 1, "work": "", "share": [1, 1], "command": ["demo"],'
                         ' "arguments": ["x"]}\n')  # fmt: skip
    done = run("gather", "j")
    assert done.exit_code == 1 and "no option --shard" in done.stderr and not Path("x").exists()
