"""LBANN label files: bytes to `Labels`.

The language is `grammars/labels.lark`; what a name that is no sample's is for, LBANN does not ask.
"""

from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lbann.labels import Labels
from exset.grammars.lbann.list_findings import finding_at
from exset.parsers.engine.grammar import Grammar
from exset.parsers.lbann.list_records import repeated
from exset.parsers.lbann.list_tokens import KERNELS, Words

GRAMMAR: Final = Grammar(
    file="labels.lark",
    start="labels",
    steps=("label",),
    words=MappingProxyType({"NUMBER": "a label, a whole number", "NAME": "the name of a file"}),
)


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Labels:
    """The labels of a text; a name given twice is told in `findings`. Raises FormatError."""
    [stream] = GRAMMAR.parse(source, engine, hint=lambda _: "a line is: name of a file, label")
    compiled = KERNELS.should_compile(len(source.data), engine)
    words = Words(GRAMMAR, source, stream, compiled=compiled)
    words.check_lengths(limits)
    names = np.flatnonzero(words.is_a("NAME"))
    name, hashes = words.strings(names)
    labels, _ = words.counts(names + 1)
    for row in repeated(name, hashes, np.array([0, len(name)])).tolist():
        if findings is not None:
            word = int(names[row])
            findings.add(finding_at("lbann-repeated-label", words.place(word)))
    return Labels(name, labels.view(np.int64))
