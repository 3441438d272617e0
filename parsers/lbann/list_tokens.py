"""The words of a sample list, by index."""

from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from exset.core.kernels import Kernels
from exset.core.limits import Limits
from exset.grammars.columns.ragged import Strings
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind, Reader
from exset.grammars.lbann.sample_list import Counts
from exset.parsers.engine.conversion import INTEGER, convert
from exset.parsers.engine.errors import shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import Records
from exset.parsers.engine.tokens import Tokens
from exset.parsers.lbann import list_columns as c
from exset.parsers.lbann.list_columns import Ints

KERNELS: Final = Kernels("exset.parsers.engine.conversion", "exset.parsers.lbann.list_columns")

KINDS: Final = MappingProxyType({kind.name: kind for kind in Kind})
"""The kinds of lists, by the names of their terminals."""

_STEPS: Final = (
    *("single_sample", "multi_sample", "multi_sample_v2", "conduit_hdf5"),
    *("counts", "directory", "label_file", "record"),
)
RECORD: Final = _STEPS.index("record")
_HEADER: Final = (_STEPS.index("directory"), _STEPS.index("label_file"))
GRAMMAR: Final = Grammar(
    file="sample_list.lark",
    start="sample_list",
    steps=_STEPS,
    words=MappingProxyType(
        {
            **{terminal: f"`{kind}`" for terminal, kind in KINDS.items()},
            "NUMBER": "a number of samples",
            "WORD": "a name",
            "LINE": "the end of the line",
        }
    ),
    records=Records((RECORD,), begin=b"\n", header=_HEADER),
)
HDF5: Final = replace(GRAMMAR, start="hdf5_list")
IMAGE: Final = replace(GRAMMAR, start="image_list")
GRAMMARS: Final = MappingProxyType({None: GRAMMAR, Reader.HDF5: HDF5, Reader.IMAGE: IMAGE})
"""The grammars, by LBANN's reader; None: the type of the list decides."""


class Words(Tokens):
    """The words of a chunk of a list."""

    kernels = KERNELS

    def strings(self, words: Ints) -> tuple[Strings, Ints]:
        """Return the words with the indices `words` as strings, and the hash of each."""
        starts, ends = self.spans(words)
        data = np.empty(int((ends - starts).sum()), np.uint8)
        offsets, hashes = np.empty(words.size + 1, np.int64), np.empty(words.size, np.int64)
        self.run(c.copy_words)(self.buffer, starts, ends, data, offsets, hashes)
        present = np.broadcast_to(np.True_, words.shape)
        return Strings.unchecked(data=data, offsets=offsets, present=present), hashes

    def spans(self, words: Ints) -> tuple[Ints, Ints]:
        """Return where each of the words with the indices `words` begins and ends in the buffer."""
        return self.starts[words] - self.base, self.ends[words] - self.base

    def counts(self, words: Ints) -> tuple[Counts, Ints]:
        """Return words as numbers, modulo 2**64 as in C++, and the indices of those with a minus
        sign.

        words: the indices of the words. Raises FormatError for a number beyond 64 bits.
        """
        values, hard = np.empty(words.size, np.int64), np.empty(words.size, np.int64)
        kinds, role = np.zeros(words.size, np.int16), np.array([INTEGER])
        spans, reals = self.spans(words), np.empty(0, np.float32)
        count = self.run(convert)(self.buffer, 0, kinds, *spans, role, reals, values, hard)
        found = values.astype(np.uint64)
        is_negative = values < 0
        for number in hard[:count].tolist():
            raw = self.raw(int(words[number]))
            digits = raw.lstrip(b"+-0")
            value = int(digits or b"0") if len(digits) < 21 else 2**64
            if value >= 2**64:
                message = "the number is beyond 64 bits: LBANN hangs"
                hint = "write the correct number"
                raise self.error(int(words[number]), "lbann-hang", message, hint)
            is_negative[number] = raw.startswith(b"-") and value > 0
            found[number] = -value % 2**64 if is_negative[number] else value
        return found, np.flatnonzero(is_negative)

    def report(self, code: str, words: ArrayLike, **values: object) -> None:
        """Add a finding with this code for each word in `words`.

        values: values to insert in the finding's message.
        """
        self.findings.add_each(
            np.asarray(words, np.int64).tolist(),
            lambda word: finding_at(
                code, self.place(word), **{"raw": shown(self.raw(word)), **values}
            ),
        )

    def check_lengths(self, limits: Limits) -> None:
        """Raise LimitError for a word that is too long."""
        long = np.flatnonzero(self.ends - self.starts > limits.max_name)
        if long.size:
            message = f"the word is longer than {limits.max_name:,} bytes"
            raise self.limit_error(int(long[0]), "max_name", message)
