import errno
import json
from contextlib import closing
from pathlib import Path

import pytest

from exset.core.errors import FormatError
from exset.core.jobs import Execution, run
from exset.core.journal import Header, Journals, checksum
from exset.core.outcome import Outcome
from exset.core.recorded import JournalError, Record, ShareDone
from exset.core.shards import Shard

seen: list[str] = []


def length(path: str) -> int:
    seen.append(path)
    if Path(path).name == "bad":
        raise FormatError("it is bad")
    if Path(path).name == "gone":
        raise FileNotFoundError(errno.ENOENT, "gone", path)
    return len(path)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen.clear()


def outcomes(items: list[str], **options: object) -> list[Outcome[str, int]]:
    how = Execution(**options)  # type: ignore[arg-type]
    return list(run(length, items, jobs=how, returns=int))


def gather(items: list[str], *paths: str, work: str = "w") -> list[Outcome[str, int]]:
    with closing(Journals(paths)) as journals:
        return outcomes(items, gathered=journals, work=work)


def shown(found: list[Outcome[str, int]]) -> list[object]:
    return [each.value if each.error is None else str(each.error) for each in found]


def record(path: str = "j", work: str = "w", **options: object) -> Record:
    share = options.get("shard") or Shard(1, 1)
    assert isinstance(share, Shard)
    header = Header(work, share=(share.index, share.count))
    return Record(path, header, **options)  # type: ignore[arg-type]


def test_what_is_done_is_skipped() -> None:
    """Errors of a file are results; errors of the system, and files that changed, are not."""
    Path("abc").write_text("1")
    items = ["abc", "bad", "gone", "x"]
    expected = shown(outcomes(items))
    seen.clear()
    first = run(length, items, jobs=Execution(record=record()), returns=int)
    assert [next(first).item, next(first).item, next(first).item] == items[:3]
    first.close()
    with open("j", "a") as file:
        file.write('{"input": "x", "par')
    seen.clear()
    assert shown(outcomes(items, record=record(resume=True))) == expected
    assert seen == ["gone", "x"]
    Path("abc").write_text("12")
    seen.clear()
    assert shown(outcomes([*items, "new"], record=record(resume=True))) == [*expected, 3]
    assert seen == ["abc", "gone", "new"]


def test_journals_of_other_work() -> None:
    outcomes(["x"], record=record())
    for other in (record(), record(work="v", resume=True)):
        with pytest.raises(JournalError) as caught:
            outcomes(["x"], record=other)
        assert caught.value.error.code == "journal"
    Path("j").write_bytes(b"\xff\n")
    with pytest.raises(JournalError, match="not a journal"):
        outcomes(["x"], record=record(resume=True))


@pytest.mark.parametrize("count", [1, 3, 7])
def test_shares_give_what_one_run_gives(count: int) -> None:
    items = ["a", "bad", "ccc", "gone", "dddd"]
    expected = shown(outcomes(items))
    for index in range(1, count + 1):
        with pytest.raises(ShareDone):
            outcomes(items, record=record("s/", shard=Shard(index, count)))
    paths = tuple(sorted(map(str, Path("s").iterdir())))
    seen.clear()
    assert shown(gather(items, *paths)) == expected
    assert not seen
    if count == 3:
        with pytest.raises(JournalError, match="share 2 of 3 is missing"):
            gather(items, paths[0], paths[2])
        with pytest.raises(
            JournalError, match=r"share 3 \(1 unit of work left\) of 3 is not finished"
        ):
            gather([*items, "more"], *paths)
        with pytest.raises(JournalError, match="journal of another command"):
            gather(items, *paths, work="v")


def test_damaged_lines() -> None:
    outcomes(["x", "y"], record=record())
    lines = Path("j").read_text().splitlines()
    damaged = {**json.loads(lines[1]), "outcome": {"value": {}}}
    Path("j").write_text("\n".join([lines[0], json.dumps(damaged), "[" * 10**5, "{}", lines[2]]))
    found = gather(["x", "y"], "j")
    assert isinstance(found[0].error, FormatError) and found[1].value == 1
    seen.clear()
    assert shown(outcomes(["x", "y"], record=record(resume=True))) == [1, 1]
    assert seen == ["x"]


def test_checksums_of_folders(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    assert checksum("none") is None
    empty = checksum("d")
    Path("d/a").write_text("1")
    one = checksum("d")
    Path("d/a").rename("d/b")
    assert len({empty, one, checksum("d")}) == 3
