"""LBANN's sample lists as columns: which samples of which files.

The words are those of LBANN's page "Sample Lists": a list has a type (its kind), a base directory,
and files; of each file some samples are included and some excluded, and the ids of the ones or of
the others are given.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.errors import FormatError
from exset.core.text import counted
from exset.grammars.columns.arrays import (
    Longs,
    check_column,
    check_offsets,
    chosen_rows,
    compact,
    concat,
    concat_offsets,
    constant,
    gather_ragged,
    offsets_of,
    same,
    take,
)
from exset.grammars.columns.html import table, text
from exset.grammars.columns.inputs import check_kind, raw, shown
from exset.grammars.columns.rows import Table
from exset.grammars.columns.spans import Spans, first_of, normal_spans
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_files import File, Totals, check_word, check_words
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lens.views import Views

Counts: TypeAlias = NDArray[np.uint64]
Id: TypeAlias = str | int

_DECIMAL: Final = re.compile(rb"0|-?[1-9]\d{0,17}")
MAX_SAMPLES: Final = 2**62
"""More samples than any list may have."""


class FileView:
    """One file of a list: its name, counts and ids."""

    def __init__(self, samples: "SampleList", index: int) -> None:
        self._samples = samples
        self.index = index

    @property
    def name(self) -> str:
        """The name as the list has it, to be joined to the directory."""
        return self._samples.name.text(self.index) or ""

    @property
    def path(self) -> str:
        """Where LBANN looks for it: the directory, a slash unless it ends in one, and the name."""
        return self._samples.joined(self.name)

    @property
    def included(self) -> int:
        """How many of its samples are used."""
        return int(self._samples.included[self.index])

    @property
    def excluded(self) -> int:
        """How many are not."""
        return int(self._samples.excluded[self.index])

    @property
    def ids(self) -> list[Id]:
        """Its ids, ranges expanded: of the included samples, or of the excluded ones."""
        return self._samples.ids_of(self.index)

    def __repr__(self) -> str:
        return f"<file {self.name!r}: {self.included} included, {self.excluded} excluded>"


@dataclass(frozen=True, eq=False, repr=False)
class SampleList(Table):
    """A sample list.

    kind; directory: the base directory; label_file: the path of the labels' file, of the kinds that
    name one. totals: what the header says, None where that is what the files add up to.

    name: Strings [files]. ids: Strings, or Spans of whole numbers in their longest runs;
    id_offsets: int64 [files + 1], where each file's ids begin and end. others: uint64 [files], how
    many samples the ids do not speak of: those excluded, in an exclusion list those included. A
    file of a SINGLE-SAMPLE list is one sample, which has no id.

    Names, ids and directory are words: not empty, and without blanks. The length is the number of
    included samples. Raises ValueError that names the column.
    """

    kind: Kind
    directory: bytes
    label_file: bytes | None
    totals: Totals | None
    name: Strings
    others: Counts
    id_offsets: Longs
    ids: Strings | Spans

    def __post_init__(self) -> None:
        check_kind("kind", self.kind, Kind)
        check_kind("name", self.name, Strings)
        if not isinstance(self.ids, Strings | Spans):
            raise ValueError(f"ids: Strings or Spans are wanted, not {type(self.ids).__name__}")
        check_column("others", self.others, np.uint64, len(self.name))
        check_offsets("id_offsets", self.id_offsets, len(self.ids))
        if self.id_offsets.size != len(self.name) + 1:
            raise ValueError(
                f"id_offsets: {len(self.name) + 1} rows are wanted, not {self.id_offsets.size}"
            )
        check_word("directory", self.directory)
        if self.kind.has_label_file:
            if self.label_file is None:
                raise ValueError(f"label_file: a {self.kind} list names one")
            if self.label_file:
                check_word("label_file", self.label_file)
        elif self.label_file is not None:
            raise ValueError(f"label_file: a {self.kind} list names none")
        if self.kind.is_single and (len(self.ids) or self.others.any()):
            raise ValueError("ids: a SINGLE-SAMPLE list has none, and no other samples")
        if self.kind is Kind.MULTI_SAMPLE_INCLUSION_V2 and self.others.any():
            raise ValueError(f"others: a {self.kind} list has none")
        if self.kind.is_exclusion and isinstance(self.ids, Spans):
            raise ValueError("ids: those of an exclusion list are text")
        for what, column in (("name", self.name), ("ids", self.ids)):
            if isinstance(column, Strings):
                check_words(what, column)
        self._freeze()

    @classmethod
    def of(
        cls,
        kind: Kind | str,
        directory: str | bytes,
        files: Iterable[File | tuple[object, ...]],
        *,
        label_file: str | bytes | None = None,
    ) -> Self:
        """The list of these files, each a `File` or a tuple like one. Raises ValueError."""
        kind = Kind(kind)
        rows = [File(*file) for file in files]
        lengths = np.array([len(row.ids) for row in rows], np.int64)
        given = [each for row in rows for each in row.ids]
        numbers = bool(given) and all(isinstance(each, int | np.integer) for each in given)
        ids: Strings | Spans
        id_offsets = offsets_of(compact(lengths))
        if numbers:
            ids, id_offsets = normal_spans(np.array(given, np.int64), id_offsets)
        else:
            ids = Strings.of(each for each in given)  # type: ignore[misc]
        for row in rows:
            if not isinstance(row.others, int) or not 0 <= row.others < 2**64:
                raise ValueError(f"others: a number of samples is wanted, not {shown(row.others)}")
        return cls(
            kind=kind,
            directory=raw("directory", directory) or b"",
            label_file=raw("label_file", label_file),
            totals=None,
            name=Strings.of(row.name for row in rows),
            others=compact(np.array([row.others for row in rows], np.uint64)),
            id_offsets=id_offsets,
            ids=ids,
        )

    def __len__(self) -> int:
        return int(self.included.sum(dtype=np.uint64))

    def __iter__(self) -> Iterator[tuple[str, Id]]:
        return self.pairs()

    def __repr__(self) -> str:
        samples, files = counted(len(self), "sample"), counted(len(self.name), "file")
        return f"SampleList({self.kind}, {samples} of {files})"

    def _repr_html_(self) -> str:
        included, excluded, ends = self.included, self.excluded, self.id_offsets
        rows = (
            (text(self.name[i]), included[i], excluded[i], first_of(self.ids, ends[i], ends[i + 1]))
            for i in range(len(self.name))
        )
        ids = "ids of those excluded" if self.kind.is_exclusion else "ids"
        return table(repr(self), ("file", "included", "excluded", ids), rows, len(self.name))

    @property
    def files(self) -> Views[FileView]:
        """The files as a sequence of views, made when asked for."""
        return Views(partial(FileView, self), range(len(self.name)), "files")

    @property
    def has_integer_ids(self) -> bool:
        """Whether ids are whole numbers."""
        return isinstance(self.ids, Spans)

    @property
    def named(self) -> Longs:
        """How many samples the ids of each file name: int64 [files]."""
        if isinstance(self.ids, Spans):
            ends = offsets_of(self.ids.counts)[self.id_offsets]
            return np.diff(ends)
        return compact(np.diff(self.id_offsets))

    @property
    def included(self) -> Counts:
        """How many samples of each file are used: uint64 [files]."""
        if self.kind.is_single:
            return constant(1, len(self.name), np.uint64)
        return self.others if self.kind.is_exclusion else self.named.astype(np.uint64)

    @property
    def excluded(self) -> Counts:
        """How many samples of each file are not used: uint64 [files]."""
        return self.named.astype(np.uint64) if self.kind.is_exclusion else self.others

    @property
    def computed(self) -> Totals:
        """What the files add up to; excluded modulo 2**64, as LBANN counts."""
        return Totals(len(self), int(self.excluded.sum(dtype=np.uint64)))

    def joined(self, name: str) -> str:
        """The path of a file: the directory, a slash unless it ends in one, and the name."""
        directory = self.directory.decode("utf-8", "surrogateescape")
        return f"{directory}{'' if directory.endswith('/') else '/'}{name}"

    def ids_of(self, index: int) -> list[Id]:
        """The ids of one file as a list, ranges expanded."""
        begin, end = self.id_offsets[index : index + 2].tolist()
        if isinstance(self.ids, Spans):
            return [*self.ids.take(np.arange(begin, end)).numbers().tolist()]
        ids = self.ids.take(np.arange(begin, end))
        return [(each or b"").decode("utf-8", "surrogateescape") for each in ids]

    def pairs(self) -> Iterator[tuple[str, Id]]:
        """The samples in order as (path, id).

        The id of a SINGLE-SAMPLE list's sample is the file's name, or its number if ids are whole
        numbers. FormatError for an exclusion list, which does not say what its samples are called.
        """
        if self.kind.is_exclusion and len(self):
            raise FormatError(
                "an exclusion list does not say what its samples are called",
                hint="exset convert --kind CONDUIT_HDF5_INCLUSION looks them up in the files",
                code="lbann-exclusion",
            )
        for file in self.files:
            if self.kind.is_single:
                yield file.path, file.index if self.has_integer_ids else file.name
            elif not self.kind.is_exclusion:
                path = file.path
                for each in file.ids:
                    yield path, each

    def select(self, which: ArrayLike | slice) -> Self:
        """Some of the samples: indices, a mask or a slice; they are grouped by file.

        Files are in the order of their first sample, for a list says file by file; each file's
        samples are in the order given. Those left out count as excluded. Raises IndexError and
        ValueError as `chosen_rows`; FormatError for some samples of a file in an exclusion list.
        """
        chosen = chosen_rows(which, len(self))
        files = np.searchsorted(self._ends, chosen, side="right")
        used, first, counts = np.unique(files, return_index=True, return_counts=True)
        by_use = np.argsort(first, kind="stable")
        order = np.empty(len(self.name), np.int64)
        order[used[by_use]] = np.arange(used.size)
        if self.kind.is_single:
            return self._of_files(files)
        kept = self._of_files(used[by_use])
        if self.kind.is_exclusion:
            whole = np.unique(chosen).size == chosen.size
            if not whole or not same(counts[by_use].astype(np.uint64), kept.included):
                raise FormatError(
                    "an exclusion list does not name its samples: they cannot be taken apart",
                    hint="take whole files, or convert it to CONDUIT_HDF5_INCLUSION first",
                    code="lbann-exclusion",
                )
            return kept
        chosen = chosen[np.argsort(order[files], kind="stable")]
        offsets = offsets_of(counts[by_use])
        left = kept.named - counts[by_use]
        others = kept.others
        if self.kind.has_excluded:
            others = compact(kept.others + np.maximum(left, 0).astype(np.uint64))
        return kept.with_columns(others=others, **self._ids(chosen, offsets))

    def select_files(self, which: ArrayLike | slice) -> Self:
        """Some of the files with all their samples: indices in any order, a mask or a slice."""
        return self._of_files(chosen_rows(which, len(self.name)))

    def concat(self, *others: Self) -> Self:
        """The files of this list and then those of the others.

        Raises ValueError unless kind, directory, label file and the type of ids are the same.
        """
        lists = [self, *others]
        for other in others:
            for what in ("kind", "directory", "label_file"):
                if getattr(other, what) != getattr(self, what):
                    raise ValueError(f"concat: the lists differ in {what}")
            if other.has_integer_ids != self.has_integer_ids and len(other.ids) and len(self.ids):
                raise ValueError("concat: the ids are text in one list and numbers in another")
        columns = [each.ids for each in lists if len(each.ids)] or [self.ids]
        first = columns[0]
        return self.with_columns(
            totals=None,
            name=Strings.concat([each.name for each in lists]),
            others=compact(concat([each.others for each in lists])),
            id_offsets=concat_offsets([each.id_offsets for each in lists]),
            ids=type(first).concat(columns),  # type: ignore[arg-type]
        )

    def with_text_ids(self) -> Self:
        """The same list with ids that are text: numbers as decimals, one for one."""
        if not isinstance(self.ids, Spans):
            return self
        named = self.named
        numbers = self.ids.numbers().tolist()
        return self.with_columns(
            ids=Strings.of(b"%d" % number for number in numbers), id_offsets=offsets_of(named)
        )

    def with_integer_ids(self) -> Self:
        """The same list with ids that are whole numbers, in their longest runs.

        FormatError for an id that is not the decimal of one, and for an exclusion list.
        """
        if not isinstance(self.ids, Strings):
            return self
        if self.kind.is_exclusion:
            raise FormatError(
                "the ids of an exclusion list are text",
                hint="no reader of whole numbers can list what is in a file",
                code="lbann-exclusion",
            )
        numbers = np.empty(len(self.ids), np.int64)
        for row, raw_id in enumerate(self.ids):
            if not _DECIMAL.fullmatch(raw_id or b""):
                shown_id = shown(self.ids.text(row))
                raise FormatError(f"the id {shown_id} is no whole number", code="lbann-range")
            numbers[row] = int(raw_id or b"")
        ids, id_offsets = normal_spans(numbers, self.id_offsets)
        return self.with_columns(ids=ids, id_offsets=id_offsets)

    @property
    def _ends(self) -> Longs:
        """Where the samples of each file end: int64 [files]."""
        return np.cumsum(self.included.astype(np.int64))

    def _of_files(self, files: Longs) -> Self:
        rows, id_offsets = gather_ragged(np.arange(len(self.ids)), self.id_offsets, files)
        return self.with_columns(
            totals=None,
            name=self.name.take(files),
            others=take(self.others, files),
            id_offsets=id_offsets,
            ids=self.ids.take(rows),
        )

    def _ids(self, chosen: Longs, offsets: Longs) -> dict[str, object]:
        """The columns of some ids, by the numbers of their samples, in files of these offsets."""
        if not isinstance(self.ids, Spans):
            return {"ids": self.ids.take(chosen), "id_offsets": offsets}
        ends = offsets_of(self.ids.counts)
        span = np.searchsorted(ends, chosen, side="right") - 1
        ids, id_offsets = normal_spans(self.ids.first[span] + chosen - ends[span], offsets)
        return {"ids": ids, "id_offsets": id_offsets}


def file_of(samples: SampleList) -> Longs:
    """The number of each sample's file: int64 [samples]."""
    return np.repeat(np.arange(len(samples.name)), samples.included.astype(np.int64))


def duplicate_files(samples: SampleList) -> Longs:
    """The number of the first file of the same name, for each file: int64 [files]."""
    _, codes = samples.name.distinct()
    first = np.unique(codes, return_index=True)[1]
    return first[codes]


def overlaps(spans: Spans, offsets: Longs) -> Longs:
    """The rows in which a number is in two spans."""
    row = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    order = np.lexsort((spans.first, row))
    row, first, last = row[order], spans.first[order], spans.last[order]
    meets = (row[1:] == row[:-1]) & (first[1:] <= last[:-1])
    return np.unique(row[1:][meets])
