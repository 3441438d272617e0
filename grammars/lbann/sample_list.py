"""LBANN's sample lists as columns: the samples that an experiment uses, and their files.

A list has a kind (the type in its first line), a base directory and files. Each file has included
and excluded samples. An inclusion list names the ids of the included samples, and an exclusion list
names the ids of the excluded samples.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.errors import FormatError
from exset.core.html import table, text
from exset.core.text import counted
from exset.grammars.columns import arrays
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.inputs import check_kind, raw, shown
from exset.grammars.columns.rows import FrozenColumns
from exset.grammars.columns.sequence import NamedSequence
from exset.grammars.columns.spans import Spans, first_of, normal_spans
from exset.grammars.columns.strings import Strings
from exset.grammars.columns.views import Views
from exset.grammars.lbann.list_files import File, Totals, check_word, check_words
from exset.grammars.lbann.list_ids import Id, Ids, id_values, ids_at, integer_ids, take_ids
from exset.grammars.lbann.list_joiner import ListJoiner
from exset.grammars.lbann.list_types import Kind

Counts: TypeAlias = NDArray[np.uint64]
Sample: TypeAlias = tuple[str, Id]
"""A path and an id."""
MAX_SAMPLES: Final = 2**62
"""The largest number of samples in a list."""


class FileView:
    """One file of a sample list."""

    def __init__(self, samples: "SampleList", index: int) -> None:
        self._samples = samples
        self.index = index

    @property
    def name(self) -> str:
        """The name of the file in the list, relative to the base directory."""
        return self._samples.name.text(self.index) or ""

    @property
    def path(self) -> str:
        """The path that LBANN opens: the base directory, a slash if needed, and the name."""
        return self._samples.joined(self.name)

    @property
    def included(self) -> int:
        """The number of included samples of the file."""
        return int(self._samples.included[self.index])

    @property
    def excluded(self) -> int:
        """The number of excluded samples."""
        return int(self._samples.excluded[self.index])

    @property
    def ids(self) -> list[Id]:
        """The ids that the list names for this file. Ranges are expanded.

        In an exclusion list, they are the ids of excluded samples; in other lists, the ids of
        included samples.
        """
        return self._samples.ids_of(self.index)

    def __repr__(self) -> str:
        return f"<file {self.name!r}: {self.included} included, {self.excluded} excluded>"


@dataclass(frozen=True, eq=False, repr=False)
class SampleList(FrozenColumns, NamedSequence[Sample, "SampleList"]):
    """A sample list. Its length is the number of included samples.

    A sample is a pair (path, id), as `pairs` yields. Its name is "file/id", or "file" without ids.

    directory: the base directory. label_file: the path of the label file; None for kinds without a
    label file. totals: the totals in the header; None if they equal the sums over the files.

    name: Strings [files]. ids: Strings, or Spans (runs of integers, as long as possible).
    id_offsets: int64 [files + 1], the ids of file i are `ids[id_offsets[i]:id_offsets[i + 1]]`.
    others: uint64 [files], the number of samples whose ids the list does not name: excluded samples
    or, in an exclusion list, included samples. In a SINGLE-SAMPLE list each file is one sample,
    without an id.

    Names, ids and the directory must be words: not empty, and without white space. Raises
    ValueError for invalid columns; the message names the column.
    """

    kind: Kind
    directory: bytes
    label_file: bytes | None
    totals: Totals | None
    name: Strings
    others: Counts
    id_offsets: Longs
    ids: Ids

    def __post_init__(self) -> None:
        check_kind("kind", self.kind, Kind)
        check_kind("name", self.name, Strings)
        if not isinstance(self.ids, Strings | Spans):
            raise ValueError(f"ids: must be Strings or Spans, not {type(self.ids).__name__}")
        arrays.check_column("others", self.others, np.uint64, len(self.name))
        arrays.check_offsets("id_offsets", self.id_offsets, len(self.ids))
        if self.id_offsets.size != len(self.name) + 1:
            rows = counted(len(self.name) + 1, "row")
            message = f"id_offsets: must have {rows}, not {self.id_offsets.size}"
            raise ValueError(message)
        check_word("directory", self.directory)
        if self.kind.has_label_file:
            if self.label_file is None:
                raise ValueError(f"label_file: a {self.kind} list needs one")
            if self.label_file:
                check_word("label_file", self.label_file)
        elif self.label_file is not None:
            raise ValueError(f"label_file: a {self.kind} list has none")
        if self.kind.is_single and (len(self.ids) or self.others.any()):
            raise ValueError("ids: a SINGLE-SAMPLE list has no ids and no others")
        if self.kind is Kind.MULTI_SAMPLE_INCLUSION_V2 and self.others.any():
            raise ValueError(f"others: a {self.kind} list has none")
        if self.kind.is_exclusion and isinstance(self.ids, Spans):
            raise ValueError("ids: must be text in an exclusion list")
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
        """Make a list of the type `kind`. files: each is a `File`, or a tuple of the same values.

        directory: the base directory. label_file: the path of the label file, for types that have a
        label file. Raises ValueError for an invalid value.
        """
        kind = Kind(kind)
        rows = [File(*file) for file in files]
        lengths = np.array([len(row.ids) for row in rows], np.int64)
        values = [each for row in rows for each in row.ids]
        numbers = bool(values) and all(isinstance(each, int | np.integer) for each in values)
        ids: Ids
        id_offsets = arrays.offsets_of(arrays.compact(lengths))
        if numbers:
            ids, id_offsets = normal_spans(np.array(values, np.int64), id_offsets)
        else:
            ids = Strings.of(each for each in values)  # type: ignore[misc]
        for row in rows:
            if not isinstance(row.others, int) or not 0 <= row.others < 2**64:
                raise ValueError(
                    f"others: expected a whole number below 2**64, not {shown(row.others)}"
                )
        return cls(
            kind=kind,
            directory=raw("directory", directory) or b"",
            label_file=raw("label_file", label_file),
            totals=None,
            name=Strings.of(row.name for row in rows),
            others=arrays.compact(np.array([row.others for row in rows], np.uint64)),
            id_offsets=id_offsets,
            ids=ids,
        )

    def __len__(self) -> int:
        return int(self.included.sum(dtype=np.uint64))

    def __iter__(self) -> Iterator[Sample]:
        return self.pairs()

    def _unit(self, row: int) -> Sample:
        return self.pairs_at(np.array([row]))[0]

    def _some(self, rows: slice) -> "SampleList":
        return self.select(rows)

    def unit_names(self) -> Iterator[bytes]:
        """Yield a name for each sample: the file and, if the list has ids, a slash and the id."""
        for file, name in enumerate(self.name):
            path = name or b""
            if self.kind.is_single or self.kind.is_exclusion:
                yield from repeat(path, int(self.included[file]))
            else:
                for each in self.ids_of(file):
                    yield path + b"/" + str(each).encode("utf-8", "surrogateescape")

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
        """The files, as a sequence of views created on access."""
        return Views(partial(FileView, self), range(len(self.name)), "files")

    @property
    def has_integer_ids(self) -> bool:
        """Whether the ids are integers."""
        return isinstance(self.ids, Spans)

    @property
    def named(self) -> Longs:
        """The number of ids that the list names for each file: int64 [files].

        Each number of a range counts as an id.
        """
        if isinstance(self.ids, Spans):
            ends = arrays.offsets_of(self.ids.counts)[self.id_offsets]
            return np.diff(ends)
        return arrays.compact(np.diff(self.id_offsets))

    @property
    def included(self) -> Counts:
        """The number of included samples of each file: uint64 [files]."""
        if self.kind.is_single:
            return arrays.constant(1, len(self.name), np.uint64)
        return self.others if self.kind.is_exclusion else self.named.astype(np.uint64)

    @property
    def excluded(self) -> Counts:
        """The number of excluded samples of each file: uint64 [files]."""
        return self.named.astype(np.uint64) if self.kind.is_exclusion else self.others

    @property
    def computed(self) -> Totals:
        """The totals, computed as sums over the files. `excluded` is modulo 2**64, as in LBANN."""
        return Totals(len(self), int(self.excluded.sum(dtype=np.uint64)))

    def joined(self, name: str) -> str:
        """Return the path of a file: the base directory, a slash if needed, and the name."""
        directory = self.directory.decode("utf-8", "surrogateescape")
        return f"{directory}{'' if directory.endswith('/') else '/'}{name}"

    def ids_of(self, index: int) -> list[Id]:
        """Return the ids of one file, ranges expanded."""
        begin, end = self.id_offsets[index : index + 2].tolist()
        return id_values(self.ids.take(np.arange(begin, end)))

    def pairs(self) -> Iterator[Sample]:
        """Yield the samples in order, as (path, id).

        In a SINGLE-SAMPLE list, the id is the name of the file. If ids are integers, it is the
        file's index. Raises FormatError for an exclusion list, because it does not name its
        samples.
        """
        if self.kind.is_exclusion and len(self):
            message = "an exclusion list does not name its samples"
            hint = "exset convert --kind CONDUIT_HDF5_INCLUSION reads them from the files"
            raise FormatError(message, hint=hint, code="lbann-exclusion")
        for file in self.files:
            if self.kind.is_single:
                yield file.path, file.index if self.has_integer_ids else file.name
            elif not self.kind.is_exclusion:
                path = file.path
                for each in file.ids:
                    yield path, each

    def pairs_at(self, rows: Longs) -> list[Sample]:
        """Return the pairs (path, id) of the samples with the indices `rows`, int64.

        The ids of other samples are not expanded.
        """
        if self.kind.is_exclusion:
            return list(self.pairs())  # which raises, unless there are no samples
        used, of = np.unique(self._files_of(rows), return_inverse=True)
        files = [self.files[file] for file in used.tolist()]
        if self.kind.is_single:
            names = [file.index if self.has_integer_ids else file.name for file in files]
            ids: list[Id] = [names[file] for file in of.tolist()]
        else:
            ids = ids_at(self.ids, rows)
        paths = [file.path for file in files]
        return [(paths[file], each) for file, each in zip(of.tolist(), ids, strict=True)]

    def select(self, which: ArrayLike | slice) -> Self:
        """Return a list of the chosen samples, grouped by file. which: indices, a mask or a slice.

        Files are in the order of their first chosen sample, and the samples of a file are in the
        order of `which`. All other samples count as excluded. Raises IndexError for an index out of
        bounds, and ValueError for another type of `which`. Raises FormatError for an exclusion list
        if only some samples of a file are chosen.
        """
        chosen = arrays.chosen_rows(which, len(self))
        files = self._files_of(chosen)
        used, first, counts = np.unique(files, return_index=True, return_counts=True)
        by_use = np.argsort(first, kind="stable")
        order = np.empty(len(self.name), np.int64)
        order[used[by_use]] = np.arange(used.size)
        if self.kind.is_single:
            return self._of_files(files)
        kept = self._of_files(used[by_use])
        if self.kind.is_exclusion:
            whole = np.unique(chosen).size == chosen.size
            if not whole or not arrays.same(counts[by_use].astype(np.uint64), kept.included):
                raise FormatError(
                    "an exclusion list does not name its samples: only whole files can be selected",
                    hint="select whole files, or convert it to CONDUIT_HDF5_INCLUSION first",
                    code="lbann-exclusion",
                )
            return kept
        chosen = chosen[np.argsort(order[files], kind="stable")]
        offsets = arrays.offsets_of(counts[by_use])
        left = kept.named - counts[by_use]
        others = kept.others
        if self.kind.has_excluded:
            others = arrays.compact(kept.others + np.maximum(left, 0).astype(np.uint64))
        ids, id_offsets = take_ids(self.ids, chosen, offsets)
        return kept.with_unchecked(others=others, ids=ids, id_offsets=id_offsets)

    def select_files(self, which: ArrayLike | slice) -> Self:
        """Return a list of the chosen files, each with all its samples.

        which: indices, a mask or a slice.
        """
        return self._of_files(arrays.chosen_rows(which, len(self.name)))

    def concat(self, *others: Self) -> Self:
        """Return a list with the files of this list, followed by the files of the others.

        Raises ValueError unless kind, directory, label file and the type of ids are equal.
        """
        joiner = ListJoiner()
        for each in (self, *others):
            joiner.add(each)
        return self.with_unchecked(totals=None, **joiner.columns())

    def with_text_ids(self) -> Self:
        """Return the same list with ids as text. An integer becomes its decimal digits."""
        if not isinstance(self.ids, Spans):
            return self
        named = self.named
        numbers = self.ids.numbers().tolist()
        return self.with_unchecked(
            ids=Strings.of(b"%d" % number for number in numbers),
            id_offsets=arrays.offsets_of(named),
        )

    def with_integer_ids(self) -> Self:
        """Return the same list with integer ids, in runs that are as long as possible.

        Raises FormatError for an exclusion list, and for an id such as `007` or `a`.
        """
        if not isinstance(self.ids, Strings):
            return self
        if self.kind.is_exclusion:
            message = "the ids of an exclusion list must be text"
            hint = "keep the ids as text: readers of LBANN with integer ids cannot exclude samples"
            raise FormatError(message, hint=hint, code="lbann-exclusion")
        ids, id_offsets = integer_ids(self.ids, self.id_offsets)
        return self.with_unchecked(ids=ids, id_offsets=id_offsets)

    def _files_of(self, rows: Longs) -> Longs:
        ends = np.cumsum(self.included.astype(np.int64))
        return np.searchsorted(ends, rows, side="right")

    def _of_files(self, files: Longs) -> Self:
        rows, id_offsets = arrays.gather_ragged(np.arange(len(self.ids)), self.id_offsets, files)
        return self.with_unchecked(
            totals=None,
            name=self.name.take(files),
            others=arrays.take(self.others, files),
            id_offsets=id_offsets,
            ids=self.ids.take(rows),
        )


def file_of(samples: SampleList) -> Longs:
    """Return the index of each sample's file: int64 [samples]."""
    return np.repeat(np.arange(len(samples.name)), samples.included.astype(np.int64))


def duplicate_files(samples: SampleList) -> Longs:
    """Return, for each file, the index of the first file with the same name: int64 [files]."""
    _, codes = samples.name.distinct()
    first = np.unique(codes, return_index=True)[1]
    return first[codes]
