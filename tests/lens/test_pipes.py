"""What Lens does with pipes, example by example, where streams do the same.

The manual's PIPE mode as Lens 2.63 runs it: the corpus has what was tried, `edge/modes.txt`.
"""

import json
import re
from pathlib import Path

import pytest

import exset
from exset import FormatError

TEXT = b"name:a I: 1;\nname:b I: 2;\nname:c I: 3;\n"
TRIALS = {
    "PIPE text, pipeLoop 0": b"name:a I: 1;\nname:b I: 2;\n",
    "PIPE binary, no loop": exset.dumps(exset.loads(TEXT), format="bex"),
    "PIPE no newline between or at end, no loop": b"name:a I: 1; name:b I: 2; name:c I: 3;",
    "PIPE error in 2nd": b"name:a I: 1;\nname:b I: 2 @;\n",
}


def told(corpus: Path, trial: str) -> list[str]:
    """What Lens said in a trial, line by line."""
    text = (corpus / "lens" / "edge" / "modes.txt").read_text()
    [section] = re.findall(rf"^### {re.escape(trial)}\n(.*?)(?=^### |\Z)", text, re.S | re.M)
    lines: list[str] = section.splitlines()
    return lines


@pytest.mark.parametrize("trial", TRIALS)
def test_a_pipe_that_ends(corpus: Path, tmp_path: Path, trial: str) -> None:
    lines = told(corpus, trial)
    wanted = [json.loads(line) for line in lines if line.startswith("{")]
    path = tmp_path / "pipe"
    path.write_bytes(TRIALS[trial])
    examples = exset.stream(path)
    for each in wanted:
        example = next(examples)
        [event] = example.events
        assert (example.name, example.frequency) == (each["name"], each["freq"])
        assert len(example.events) == each["numEvents"]
        assert event.inputs is not None and event.targets is None
        assert event.inputs[0].values.tolist() == each["events"][0]["input"][0]["values"]
    if any("missing semicolon" in line for line in lines):
        with pytest.raises(FormatError, match=r":2:13: expected"):
            next(examples)
    with pytest.raises(StopIteration):
        next(examples)


@pytest.mark.parametrize("suffix", ["ex", "bex"])
def test_a_pipe_that_loops(corpus: Path, tmp_path: Path, suffix: str) -> None:
    """Lens means to reopen it, and the build that was tried stops there: exset goes on."""
    lines = told(corpus, "PIPE text, default loop" if suffix == "ex" else "PIPE binary, loop")
    names = [json.loads(line)["name"] for line in lines if line.startswith("{")]
    path = tmp_path / f"pipe.{suffix}"
    exset.save(exset.loads(b"".join(b"name:%b I: 1;\n" % n.encode() for n in names)), path)
    with exset.stream(path, loop=True) as examples:
        assert [next(examples).name for _ in range(3 * len(names))] == 3 * names
