"""aeon's loader with damaged files, full disks and consumers that end: nothing hangs or leaks."""

import errno
import gc
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exset import DataLoader, Findings, FormatError
from exset.codecs.aeon import cpio_write
from exset.codecs.aeon.cpio_write import BlockWriter
from exset.runtime.aeon.provision.image import Image
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.aeon.provision.record import Record

pytest.importorskip("cv2")

COUNT = 12
ETL = [{"type": "image", "height": 8, "width": 10}, {"type": "label", "binary": True}]


@pytest.fixture(autouse=True)
def current(folder: Path) -> Iterator[Path]:
    """A folder of pictures, all of one grey that is the label; at the end no thread may be left."""
    lines = ["@FILE\tASCII_INT"]
    for number in range(COUNT):
        pixels = np.full((12, 16, 3), 10 * number, np.uint8)
        (folder / f"{number}.png").write_bytes(opencv().imencode(".png", pixels)[1].tobytes())
        lines.append(f"{number}.png\t{10 * number}")
    (folder / "m.tsv").write_text("\n".join(lines) + "\n")
    (folder / "caches").mkdir()
    yield folder
    assert not threads()


def threads() -> list[str]:
    """The threads of loaders."""
    names = (each.name for each in threading.enumerate())
    return [name for name in names if name.startswith("exset ")]


def config(**members: Any) -> dict[str, Any]:
    return {"manifest_filename": "m.tsv", "batch_size": 2, "random_seed": 3, "etl": ETL} | members


def greys(loader: DataLoader) -> list[int | None]:
    """The grey of each picture of an epoch, None for the batch of an error."""
    found: list[int | None] = []
    stream = iter(loader)
    while True:
        try:
            batch: dict[str, Any] = dict(next(stream))
        except StopIteration:
            return found
        except FormatError:
            found.append(None)
        else:
            assert (batch["image"] == batch["label"][:, :, None, None]).all()
            found += batch["label"][:, 0].tolist()


GREYS = [10 * number for number in range(COUNT)]
BAD = {"cut": b"\x89PNG\r\n\x1a\n\0\0", "empty": b"", "vanished": None}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    ("on_error", "expected"),
    [
        ("raise", [*GREYS[:4], None, *GREYS[6:]]),
        ("skip", [*GREYS[:5], *GREYS[6:], 0]),
        ("blank", [*GREYS[:5], 0, *GREYS[6:]]),
    ],
)
@pytest.mark.parametrize("prefetch", [0, 1])
def test_a_picture_that_is_lost_in_mid_epoch(
    on_error: Any, expected: list[int | None], bad: str, prefetch: int, current: Path
) -> None:
    """Good pictures around it are all there, in this epoch and the next one."""
    findings = Findings()
    options: Any = {"on_error": on_error, "findings": findings, "prefetch": prefetch, "threads": 3}
    with DataLoader(config(), **options) as loader:
        assert greys(loader) == GREYS
        data = BAD[bad]
        if data is None:
            (current / "5.png").unlink()
        else:
            (current / "5.png").write_bytes(data)
        assert greys(loader) == expected
    assert {each.code for each in findings} == ({"aeon-record"} if on_error != "raise" else set())


def test_a_cut_cache_is_not_used(current: Path) -> None:
    """A block that is cut before the loader opens it; with `on_error` the files take its place."""
    cached = config(cache_directory="caches", block_size=5)
    with DataLoader(cached) as loader:
        assert greys(loader) == GREYS
    [block] = current.glob("caches/*/block_1.cpio")
    block.write_bytes(block.read_bytes()[:-700])
    with pytest.raises(FormatError, match="not the requested one"):
        DataLoader(cached)
    findings = Findings()
    with DataLoader(cached, on_error="skip", findings=findings) as loader:
        assert greys(loader) == GREYS
    assert [each.code for each in findings] == ["aeon-cache-other"]


def test_a_block_that_is_replaced_by_a_cut_one(current: Path) -> None:
    """Its records are bad ones, and those of the other blocks are good."""
    cached = config(cache_directory="caches", block_size=4, etl=ETL[:1])
    with DataLoader(cached) as loader:
        [block] = current.glob("caches/*/block_1.cpio")
        cut = block.with_suffix(".cut")
        cut.write_bytes(block.read_bytes()[:-700])
        cut.replace(block)
        stream, found = iter(loader), []
        for _ in range(COUNT // 2):
            try:
                found += dict[str, Any](next(stream))["image"][:, 0, 0, 0].tolist()
            except FormatError as error:
                found.append(error.place is not None)
    assert found == [*GREYS[:4], True, True, *GREYS[8:]]


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_disk_that_is_full_while_the_cache_is_made(
    on_error: Any, current: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first block stays for the next loader, and no part of the second one."""
    cached = config(cache_directory="caches", block_size=4)
    write, written = BlockWriter.write, []

    def fill(writer: BlockWriter, record: list[bytes]) -> None:
        written.append(record)
        if len(written) == 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(writer, record)

    with monkeypatch.context() as patch:
        patch.setattr(cpio_write.BlockWriter, "write", fill)
        with pytest.raises(OSError, match="No space left"):
            DataLoader(cached, on_error=on_error)
    names = {path.name for path in current.glob("caches/*/*")}
    assert "block_0.cpio" in names and "cache_complete" not in names
    assert not {name for name in names if name.startswith("block_")} - {"block_0.cpio"}
    with DataLoader(cached) as loader:
        assert greys(loader) == GREYS
    assert {path.name for path in current.glob("caches/*/*")} == {
        "cache_complete", *(f"block_{number}.cpio" for number in range(3))
    }  # fmt: skip


@pytest.fixture
def sigint() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where a shell started the tests with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("sigint")
@pytest.mark.parametrize("prefetch", [0, 2])
def test_ctrl_c(prefetch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is that of the last batch that came, and the loader itself can go on."""
    provide, seen = Image.provide, list[int]()
    is_interrupted = threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    def interrupt(self: Image, element: bytes, record: Record, *rest: Any) -> None:
        if record.index == 8 and not is_interrupted.is_set():
            is_interrupted.set()
            while len(seen) < 8:
                time.sleep(0.001)
            time.sleep(0.1)  # the main thread waits for this batch
            signal.pthread_kill(main, signal.SIGINT)
            time.sleep(0.1)
        provide(self, element, record, *rest)

    with DataLoader(config(), threads=2, prefetch=prefetch) as loader:
        with monkeypatch.context() as patch:
            patch.setattr(Image, "provide", interrupt)
            with pytest.raises(KeyboardInterrupt):
                for batch in loader:
                    seen += dict(batch)["label"][:, 0].tolist()
        state = loader.state_dict()
        assert greys(loader) == GREYS
    with DataLoader(config()) as other:
        other.load_state_dict(state)
        assert seen == GREYS[:8] and greys(other) == GREYS[8:]


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("batch_major", [True, False])
def test_a_loader_that_nobody_uses_any_more(prefetch: int, batch_major: bool) -> None:
    """Without `close`, after an error of the consumer."""

    def consume() -> None:
        loader = DataLoader(config(batch_major=batch_major), threads=2, prefetch=prefetch)
        next(loader)
        assert threads()
        raise ValueError

    with pytest.raises(ValueError):
        consume()
    gc.collect()
    assert not threads()


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_a_process_that_ends_in_mid_epoch(end: str, code: int, current: Path) -> None:
    """The process does not hang, and its cache is whole for the next one."""
    cached = config(cache_directory="caches", block_size=4)
    program = f"import exset\nloader = exset.DataLoader({cached!r}, threads=2)\nnext(loader)\n{end}"
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert ended.returncode == code
    assert len([*current.glob("caches/*/cache_complete")]) == 1
    with DataLoader(cached) as loader:
        assert greys(loader) == GREYS
