"""The findings of sample lists and label files. Codes are stable: programs may select by them."""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING = Severity.NOTE, Severity.WARNING

RULES: Final = MappingProxyType(
    {
        "lbann-refuses": Rule(_WARNING, "LBANN fails on this: {what}", "{hint}"),
        # Header
        "lbann-header-words": Rule(
            _WARNING, "LBANN ignores {raw} and the rest of this header line", "{hint}"
        ),
        "lbann-path-cut": Rule(
            _WARNING,
            "LBANN cuts the path at its first blank: it ignores {raw} and the rest of the line",
            "rename the folder, or make a link without a blank",
        ),
        "lbann-label-line": Rule(
            _WARNING,
            "LBANN reads this line as the path of the label file, cut at its first blank",
            "line 4 of a {kind} list names the label file: if this line is the first file,"
            " insert a line before it",
        ),
        "lbann-no-label-file": Rule(
            _NOTE,
            "the list names no label file",
            "LBANN's image readers cannot use it: name one in line 4, or with --labels FILE",
        ),
        "lbann-no-number": Rule(
            _WARNING,
            "a number is missing here: LBANN reads it, and the numbers after it, as 0",
            "write {expected}",
        ),
        "lbann-totals": Rule(
            _WARNING,
            "the header counts {declared} {what} samples, but the files have {found}",
            "LBANN does not compare them; exset convert writes the correct totals",
        ),
        # Records
        "lbann-extra-words": Rule(
            _NOTE,
            "LBANN ignores {raw} and the rest of the line: each line names one file",
            "put labels into the label file",
        ),
        "lbann-wrapped-count": Rule(
            _WARNING,
            "LBANN reads a negative number of samples as {value}",
            "write the correct number",
        ),
        "lbann-repeated-file": Rule(
            _WARNING,
            "the list names the file {name} again: it contains its samples twice",
            "name it once: LBANN cannot read back the list that it writes from this one",
        ),
        "lbann-repeated-id": Rule(
            _WARNING, "the line names {raw} again", "remove it, unless you mean to use it twice"
        ),
        "lbann-extra-id": Rule(
            _WARNING, "the line names {raw} again: LBANN counts it once", "remove it"
        ),
        "lbann-two-levels": Rule(
            _WARNING,
            "the id {raw} contains a slash: LBANN can exclude top-level objects only, and fails",
            "use an inclusion list",
        ),
        "lbann-dots": Rule(
            _WARNING,
            "`...` is an ordinary id here, because ids are text",
            'if it means a range, read the list with ids="integer" (--ids integer)',
        ),
        "lbann-ids-guessed": Rule(
            _NOTE,
            "all ids look like integers, so exset reads them as integers",
            'if they are names, read the list with ids="text" (--ids text)',
        ),
        "lbann-repeated-label": Rule(
            _WARNING,
            "this file already has a label: the last one counts",
            "remove all labels but one",
        ),
        "lbann-odd-range": Rule(
            _WARNING, "LBANN reads this range in a surprising way: {what}", "write `first ... last`"
        ),
        "lbann-number-tail": Rule(
            _WARNING,
            "LBANN reads the digits at the start of {raw} and ignores the rest",
            "write the number alone",
        ),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding by the rule of a code, at a place; words fill in its message."""
