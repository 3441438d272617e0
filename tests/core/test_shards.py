import pytest

from exset.core.shards import Shard


def test_shares_are_disjoint_and_complete() -> None:
    units = [str(number) for number in range(10)]
    shares = [Shard(index, 3).of(units) for index in (1, 2, 3)]
    assert sorted(unit for share in shares for unit in share) == units
    assert shares[1] == ["1", "4", "7"]
    assert [Shard(index, 3).of([]) for index in (1, 2, 3)] == [[], [], []]


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/", "-1/3", "1/0", ""])
def test_texts_that_are_no_share(text: str) -> None:
    with pytest.raises(ValueError, match="a share must be"):
        Shard.parse(text, {})


ENVIRONMENTS = [
    ({"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "8"}, "4/8"),
    ({"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_MAX": "9"}, "3/5"),
    (
        {
            **{"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_MIN": "0"},
            **{"SLURM_ARRAY_TASK_MAX": "6", "SLURM_ARRAY_TASK_STEP": "2"},
            **{"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"},
        },
        "6/8",
    ),
    ({"FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "2"}, "1/2"),
    ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "SLURM_PROCID": "0"}, "2/4"),
    ({"PBS_VNODENUM": "5", "PBS_NP": "6"}, "6/6"),
    ({"RANK": "2", "WORLD_SIZE": "3"}, "3/3"),
    ({"PMI_RANK": "0", "PMI_SIZE": "1"}, "1/1"),
]


@pytest.mark.parametrize(("environment", "share"), ENVIRONMENTS)
def test_clusters_say_the_share(environment: dict[str, str], share: str) -> None:
    assert str(Shard.parse("auto", environment)) == share


def test_no_cluster() -> None:
    with pytest.raises(ValueError, match="no variable of Slurm"):
        Shard.parse("auto", {"HOME": "/", "RANK": "1"})


def test_an_array_of_pbs() -> None:
    with pytest.raises(ValueError, match=r"for N tasks, write \$PBS_ARRAY_INDEX/N"):
        Shard.parse("auto", {"PBS_ARRAY_INDEX": "3"})
