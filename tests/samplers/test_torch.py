"""The samplers in torch's loaders; the two processes of docs/samplers.md."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import exset

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("workers", [0, 2])
def test_loaders(workers: int) -> None:
    import torch
    from torch.utils.data import DataLoader

    data = torch.arange(240)
    for cls in (exset.RandomNxMSampler, exset.ExhaustiveNxMSampler, exset.PlannedNxMSampler):
        sampler = cls(data % 12, 4, 5)
        flat = DataLoader(data, batch_size=20, sampler=sampler, num_workers=workers)
        whole = DataLoader(data, batch_sampler=sampler.batches(), num_workers=workers)
        batches = [batch.tolist() for batch in whole]
        assert batches == [batch.tolist() for batch in flat] == list(sampler.batches())
        assert len(whole) == len(batches)


@pytest.mark.usefixtures("torch")
def test_resumption_under_a_loader_that_fetches_ahead() -> None:
    import torch
    from torch.utils.data import DataLoader

    data = torch.arange(600)

    def make(world: int, rank: int) -> exset.PlannedNxMSampler:
        return exset.PlannedNxMSampler(data % 30, 5, 4, num_replicas=world, rank=rank)

    expected = list(make(1, 0).batches())
    first = make(2, 0)
    loader = DataLoader(data, batch_sampler=first.batches(), num_workers=2, prefetch_factor=4)
    for step, batch in enumerate(loader, 1):
        assert batch.tolist() == expected[2 * (step - 1)]
        if step == 3:
            state = first.state_dict(yielded=step)
            assert first.state_dict()["batch"] > state["batch"] == 6
            break
    for world in (1, 2, 3):
        ranks = [make(world, rank) for rank in range(world)]
        for sampler in ranks:
            sampler.load_state_dict(state)
            sampler.set_epoch(state["epoch"])
        streams = zip(*(sampler.batches() for sampler in ranks), strict=True)
        drawn = [batch for batches in streams for batch in batches]
        assert drawn[: len(expected) - 6] == expected[6:]


@pytest.mark.usefixtures("torch")
def test_kinds_of_tensors() -> None:
    import torch

    labels = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
    sampler = exset.ExhaustiveNxMSampler(labels, 2, 2, shuffle=False)
    assert list(sampler) == [0, 1, 5, 6, 8, 9, 2, 3, 7, 5, 4, 0]
    expected = list(exset.PlannedNxMSampler(labels.numpy(), 2, 2))
    kinds = (labels.to(torch.uint8), labels.float().requires_grad_(), list(labels))
    for other in kinds:
        assert list(exset.PlannedNxMSampler(other, 2, 2)) == expected


def test_the_recipe_of_two_processes(torch: ModuleType, tmp_path: Path) -> None:
    """The page's script, as it says it is run."""
    text = (ROOT / "docs" / "samplers.md").read_text()
    (script,) = re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert "torchrun --standalone --nproc-per-node 2 ddp.py" in text
    (tmp_path / "ddp.py").write_text(script)
    options = ["--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", *options, "ddp.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    expected = re.findall(r"# -> (.*)$", script, re.MULTILINE)
    assert done.stdout.splitlines() == expected, done.stdout


def test_samplers_need_no_torch() -> None:
    code = (
        "import sys, exset\n"
        "print(len(list(exset.PlannedNxMSampler([0, 0, 1, 1], 2, 1))), 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "4 False\n"
