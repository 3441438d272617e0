"""Folders of formats that are folders, such as shards: a target for each format."""

import os
from collections.abc import Callable, Iterable, Mapping
from tempfile import TemporaryDirectory
from typing import Final, cast

from hypothesis import strategies as st

from exset import api, formats
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.families.family import load
from exset.grammars.tables.table import Table
from exset.io.compression import MAGIC, content_of
from exset.streaming import opened
from exset.testing import targets
from exset.testing.contract import LIMITS, Broken
from exset.testing.targets import RarerCheck, Target, rarer_of
from tests.fuzz.disk import attempt
from tests.fuzz.folders import created, joined, joined_from, separated

_LIMITS: Final[Limits] = LIMITS.with_(max_array=1 << 20)
_MOST: Final = 1 << 14
_UNCHECKED: Final = (b"index.json", b"exset.json")
"""Files that some seeds lack: an index has checksums, which changed shards do not match."""


class FormatFolder(Target):
    """Folders of a format, as bytes as in `tests.fuzz.folders`; the models are tables."""

    def __init__(self, name: str, *names: str) -> None:
        """Test the format `name`; `names` are names of files in its folders."""
        self.name = name
        self._names = names

    @property
    def rarer(self) -> Mapping[RarerCheck, int]:
        """One case in five is read by a second engine, one in nine written, one in 13 in chunks."""
        return rarer_of(formats.get(self.name))

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return drawn folders; every second one without its index."""
        strategy = cast(
            Callable[[], st.SearchStrategy[Table]], load(formats.get(self.name).strategy)
        )
        made = []
        for number, table in enumerate(targets.collected(strategy(), draw, start)):
            with TemporaryDirectory() as above:
                folder = os.path.join(above, "out")
                attempt("save", self._save, table, folder)  # MDS cannot store an empty table
                data = joined_from(folder)
            if number % 2 and self.name != "mds":
                files = {os.fsdecode(each): content for each, content in separated(data)}
                data = joined({n: d for n, d in files.items() if os.fsencode(n) not in _UNCHECKED})
            made.append(data)
        return [data for data in made if data and len(data) <= _MOST]

    def words(self) -> list[bytes]:
        """Return heads of files, and names that the formats use."""
        heads = [b"\n==> %s <==\n" % os.fsencode(name) for name in self._names]
        return [*heads, b"../x", b"/ <==", b"@ <==", b"| <=="]

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Check that a folder is read or refused, and that what is written reads back."""
        with created(data) as folder:
            table = attempt(self.name, self._loaded, folder)
            if self.has("engines", number):
                other = attempt("table", self._loaded, folder, engine="table")
                if table != other:
                    raise Broken("engines", f"{table!r} and {other!r}")
            if self.has("chunks", number):
                chunked = attempt("stream", self._streamed, folder)
                if table is not None and chunked != table:
                    raise Broken("parts", f"{table!r}, but in chunks {chunked!r}")
            if table is None or not self.has("written", number):
                return table is not None
            again = self._again(table, f"{folder}-1")
            if again is not None:
                if len(again) != len(table):
                    raise Broken("stable", f"{table!r} is written as {again!r}")
                if (last := self._again(again, f"{folder}-2")) != again:
                    raise Broken("stable", f"{again!r} is written as {last!r}")
            return True

    def _again(self, table: Table, out: str) -> Table | None:
        """Return a table that is written and read; None if the format cannot store it.

        None also for a table whose written text begins as a compressed file does: exset reads such
        text as compressed, also in files that are not in folders.
        """
        attempt("save", self._save, table, out)
        if not os.path.exists(out) or any(map(_is_like_compressed, [*os.scandir(out)])):
            return None
        again = attempt("again", self._loaded, out)
        if again is None:
            raise Broken("stable", f"what is written of {table!r} cannot be read")
        return again

    def _save(self, table: Table, out: str) -> None:
        api.save(table, out, format=self.name, lossy=True, findings=Findings())

    def _loaded(self, folder: str, *, engine: Engine = "auto") -> Table:
        return api.load(
            folder,
            model=Table,
            format=self.name,
            limits=_LIMITS,
            findings=Findings(),
            engine=engine,
        )

    def _streamed(self, folder: str) -> Table:
        with opened(folder, format=self.name, limits=_LIMITS) as found:
            tables = [each for each in found.stream(Findings()) if isinstance(each, Table)]
        return Table.concat(tables)


def _is_like_compressed(entry: os.DirEntry[str]) -> bool:
    with open(entry, "rb") as file:
        return content_of(file.read(MAGIC)) is not None


FORMAT_FOLDERS: Final = (
    FormatFolder("kaldi_data", "utt2spk", "segments", "wav.scp", "text", "spk2gender", "utt2dur"),
    FormatFolder("mds", "index.json", "shard.00000.mds", "exset.json"),
    FormatFolder("webdataset-shards", "index.json", "shard-000000.tar", "exset.json"),
    FormatFolder("tfrecord-shards", "index.json", "shard.tfrecord-00000-of-00001", "exset.json"),
)
