"""The samplers under Lightning, Accelerate and torchdata, which count and divide batches."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import exset
from exset.runtime.samplers import NxMSampler

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "trainers.md"
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
LABELS = np.arange(344) % 43


def needs(*names: str) -> None:
    for name in names:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")


def run(folder: Path, script: str, *options: str) -> list[str]:
    """Run a script in a folder, and return the lines of its output that are not of Lightning."""
    (folder / "train.py").write_text(script)
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, *options, "train.py"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("number", "library"), [(0, "torchdata"), (1, "lightning"), (2, "accelerate")]
)
def test_the_scripts_of_the_page(number: int, library: str, tmp_path: Path) -> None:
    needs("torch", "torchdata", library)
    script = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[number]
    assert f"from {library}" in script or f"import {library}" in script
    options = TORCHRUN if library == "accelerate" else []
    (expected,) = re.findall(r"^# -> (.*)$", script, re.MULTILINE)
    assert expected in run(tmp_path, script, *options)


LIGHTNING = """
import lightning, torch
from torch.utils.data import DataLoader
import exset

class Model(lightning.LightningModule):
    def __init__(self, stop):
        super().__init__()
        self.layer, self.stop, self.seen = torch.nn.Linear(1, 1), stop, []

    def training_step(self, batch, number):
        self.seen.append(batch.tolist())
        return self.layer(batch[:, None].float()).mean()

    def on_train_batch_end(self, *_):
        if self.trainer.global_step == self.stop:
            self.trainer.save_checkpoint("last.ckpt")
            raise KeyboardInterrupt

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-9)

class Data(lightning.LightningDataModule):
    def __init__(self, flat, workers):
        super().__init__()
        self.sampler = exset.PlannedNxMSampler(torch.arange(344) % 43, 4, 2)
        how = {"sampler": self.sampler, "batch_size": 8} if flat else {
            "batch_sampler": self.sampler.batches()
        }
        self.loader = DataLoader(torch.arange(344), num_workers=workers, **how)

    def train_dataloader(self):
        return self.loader

    def state_dict(self):
        ready = self.trainer.fit_loop.epoch_loop.batch_progress.current.ready
        return dict(self.sampler.state_dict(yielded=ready))

    def load_state_dict(self, state):
        self.sampler.load_state_dict(state)

def fit(flat, workers, stop=None, checkpoint=None, **options):
    model = Model(stop)
    trainer = lightning.Trainer(
        accelerator="cpu", max_epochs=3, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, **options,
    )
    try:
        trainer.fit(model, datamodule=Data(flat, workers), ckpt_path=checkpoint)
    except SystemExit:  # after the KeyboardInterrupt
        pass
    return model.seen
"""


def test_lightning_loses_no_batch_after_a_resume(tmp_path: Path) -> None:
    """Also after a stop at the last batch of an epoch, when workers read ahead."""
    needs("torch", "lightning")
    script = """
for flat, workers, stop in ((True, 0, 50), (False, 2, 50), (False, 2, 43)):
    whole = fit(flat, workers)
    both = fit(flat, workers, stop), fit(flat, workers, None, "last.ckpt")
    print(len(whole), *map(len, both), sum(both, []) == whole)
"""
    shown = run(tmp_path, LIGHTNING + script)
    expected = ["129 50 79 True", "129 50 79 True", "129 43 86 True"]
    assert [line for line in shown if line.startswith("129")] == expected


def test_lightning_may_not_divide_items(tmp_path: Path) -> None:
    needs("torch", "lightning")
    script = """
for flat in (True, False):
    try:
        fit(flat, 0, strategy="ddp", devices=1)
    except (RuntimeError, TypeError) as error:
        print("refused:", "use_distributed_sampler=False" in str(error))
"""
    shown = run(tmp_path, LIGHTNING + script)
    assert [line for line in shown if line.startswith("refused")] == ["refused: True"] * 2


def samplers(**options: Any) -> list[NxMSampler]:
    classes = (exset.RandomNxMSampler, exset.ExhaustiveNxMSampler, exset.PlannedNxMSampler)
    return [cls(LABELS, 4, 2, **options) for cls in classes]


def test_no_distributed_sampler_may_divide_items(torch: ModuleType) -> None:
    """Neither the items, nor batches that the rank divides already."""
    from torch.utils.data.distributed import DistributedSampler

    class Wrapper(DistributedSampler):  # type: ignore[misc]
        def __init__(self, sampler: Any) -> None:
            super().__init__(sampler, 2, 0)
            self.sampler = sampler

        def __iter__(self) -> Any:
            items = list(self.sampler)
            return (items[index] for index in super().__iter__())

    for sampler in samplers():
        with pytest.raises(RuntimeError, match="use_distributed_sampler=False"):
            list(Wrapper(sampler))
        assert len(list(Wrapper(sampler.batches()))) == -(-sampler.num_batches // 2)
        assert len(list(sampler)) == len(sampler)
    for sampler in samplers(rank=1, num_replicas=2):
        with pytest.raises(RuntimeError, match="twice"):
            list(Wrapper(sampler.batches()))


def test_accelerate_divides_batches(torch: ModuleType) -> None:
    shards = pytest.importorskip("accelerate.data_loader", reason="accelerate is not installed")
    for drop_last in (False, True):
        for whole, first in zip(samplers(), samplers(drop_last=drop_last), strict=True):
            batches = list(whole.batches())
            for index in range(2):
                shard = shards.BatchSamplerShard(first.batches(), 2, index)
                replica = type(first)(LABELS, 4, 2, drop_last=drop_last, num_replicas=2, rank=index)
                if first.num_batches == len(batches):
                    assert list(shard) == list(replica.batches())
                    assert len(shard) == len(replica.batches())
    for sampler in samplers(rank=0, num_replicas=2):
        with pytest.raises(RuntimeError, match="omit rank="):
            list(shards.BatchSamplerShard(sampler.batches(), 2, 0))


def test_batches_have_the_attributes_of_batches() -> None:
    for sampler in samplers(drop_last=True):
        batches = sampler.batches()
        assert (batches.batch_size, batches.drop_last) == (8, True)
        with pytest.raises(TypeError, match="cannot change its sampler"):
            type(batches)(sampler, batch_size=8, drop_last=True)
    examples = exset.ExampleSet.from_arrays(np.zeros((5, 2, 1)), None)
    order = exset.ExampleSampler(examples)
    assert order.batches(3).batch_size == 3
    assert order.batches(3, events=True).batch_size is None


def test_lengths_are_those_of_whole_epochs() -> None:
    """Lightning counts the batches before a resume as well, and lost as many."""
    sampler = exset.PlannedNxMSampler(LABELS, 4, 2)
    sampler.load_state_dict({**sampler.state_dict(), "batch": 7})
    assert (len(sampler), len(sampler.batches())) == (344, 43)
    assert len(list(sampler.batches())) == 36
    examples = exset.ExampleSet.from_arrays(np.zeros((10, 1)), None)
    order = exset.ExampleSampler(examples)
    order.load_state_dict({**order.state_dict(), "given": 4})
    assert (len(order), len(order.batches(2)), len(list(order.batches(2)))) == (10, 5, 3)


def test_the_end_of_an_epoch_is_the_beginning_of_the_next() -> None:
    """Unless the epoch is set: loaders may start before that."""
    planned = exset.PlannedNxMSampler(LABELS, 4, 2)
    planned.set_epoch(1)
    second = list(planned.batches())
    ended = {**planned.state_dict(), "epoch": 0}
    assert ended["batch"] == 43
    for again in (True, False):
        sampler = exset.PlannedNxMSampler(LABELS, 4, 2)
        sampler.load_state_dict(ended)  # type: ignore[arg-type]
        if again:
            sampler.set_epoch(0)
        assert list(sampler.batches()) == ([] if again else second)
    examples = exset.ExampleSet.from_arrays(np.zeros((9, 1)), None)
    order = exset.ExampleSampler(examples, "permuted")
    order.set_epoch(1)
    later = list(order)
    order.load_state_dict({**order.state_dict(), "epoch": 0})
    assert list(order) == later and order.epoch == 1
