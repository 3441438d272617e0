"""Reading a file never runs a program, opens another file or uses the network.

An audit hook of Python reports every attempt.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from exset import samples
from tests.laws.audit import CONTROLS

ROOT = Path(__file__).parents[2]

HOSTILE = {
    "proc.ex": b"proc: {exec touch ran; socket localhost 9}\n;\nI: 1 T: 1;\n",
    "pipe.ex": b"name: {|touch ran} I: 1 T: 1;\n",
    "labels.sample_list": b"SINGLE-SAMPLE\n1\n/\n|touch ran\na\n",
    "remote.sample_list": b"SINGLE-SAMPLE\n1\n/\nhttp://127.0.0.1:9/x\na\n",
    "stdin.sample_list": b"SINGLE-SAMPLE\n1\n/\n-\na\n",
    "yaml.yaml": b"a: !!python/object/apply:os.system [touch ran]\n",
    "merge.yaml": b"a: &a {metadata: {scale: 2}}\nb: {<<: *a}\n",
    "names.tsv": b"@FILE\n|touch ran\nhttp://127.0.0.1:9/x\n/etc/passwd\n~/x\n$(touch ran)\n",
    "config.json": b'{"manifest_filename": "|touch ran", "cache_directory": "/", "etl": []}',
    "code.ex": b"__import__('os').system('touch ran')\n",
}


def forbidden(files: list[str], *, check_files: bool = False) -> dict[str, list[str]]:
    """Return the forbidden events of each file."""
    request = {"files": files, "check_files": check_files, "controls": [*CONTROLS]}
    done = subprocess.run(
        [sys.executable, "-m", "tests.laws.audit"],
        input=json.dumps(request),
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["read"] == len(files)
    assert found["seen"] == [True] * len(CONTROLS), dict(zip(CONTROLS, found["seen"], strict=True))
    reports: dict[str, list[str]] = found["reports"]
    return reports


def test_files_made_to_do_harm(tmp_path: Path) -> None:
    for name, data in HOSTILE.items():
        (tmp_path / name).write_bytes(data)
    for name in samples.names():
        (tmp_path / name).write_bytes(samples.read(name).data)
    names = sorted(str(path) for path in tmp_path.iterdir())
    assert forbidden(names) == {}
    assert forbidden(names, check_files=True) == {}
    assert not (ROOT / "ran").exists() and not (tmp_path / "ran").exists()


def test_the_corpus(corpus: Path) -> None:
    """All files up to 20 kB."""
    every = [path for path in corpus.rglob("*") if path.is_file()]
    names = sorted(str(path) for path in every if path.stat().st_size <= 20_000)
    assert len(names) > 1000
    assert forbidden(names) == {}
    naming = [name for name in names if name.endswith((".sample_list", ".tsv", ".yaml"))]
    assert forbidden(naming, check_files=True) == {}
