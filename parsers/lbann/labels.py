"""Parse and write LBANN label files. LBANN ignores names that are not in the sample list."""

from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lbann.labels import Labels
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import Records
from exset.parsers.lbann.list_records import repeated
from exset.parsers.lbann.list_tokens import KERNELS, Words

GRAMMAR: Final = Grammar(
    file="labels.lark",
    start="labels",
    steps=("label",),
    words=MappingProxyType({"NUMBER": "a label, an integer", "NAME": "the name of a file"}),
    records=Records((0,), begin=b"\n"),
)


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Labels:
    """Return the labels of a text; add a finding for each repeated name.

    Raises FormatError for a text that LBANN cannot read.
    """
    [stream] = GRAMMAR.parse(source, engine, hint=lambda _: "write: name of a file, label")
    compiled = KERNELS.use_compiled(len(source.data), engine)
    words = Words(GRAMMAR, source, stream, compiled=compiled, findings=findings)
    words.check_lengths(limits)
    names = np.flatnonzero(words.is_a("NAME"))
    name, hashes = words.strings(names)
    labels, _ = words.counts(names + 1)
    again = repeated(name, hashes, np.array([0, len(name)]))
    words.report("lbann-repeated-label", names[again])
    return Labels(name, labels.view(np.int64))


def render(labels: Labels) -> bytes:
    """Return the text of labels: a line for each name. Names must not contain white space."""
    rows = zip(labels.name, labels.label.tolist(), strict=True)
    return b"".join(b"%s %d\n" % (name or b"", label) for name, label in rows)
