"""What LBANN accepts in sample lists but people are caught by, and what it refuses and exset reads.

A code is stable: programs may select findings by it.
"""

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
            _WARNING, "{raw} and what follows it in this line of the header is ignored", "{hint}"
        ),
        "lbann-path-cut": Rule(
            _WARNING,
            "the path is cut at its first blank: {raw} and what follows it is ignored",
            "no path in a sample list can have a blank: rename it, or make a link",
        ),
        "lbann-label-line": Rule(
            _WARNING,
            "this line is taken for the path of the label file, cut at its first blank",
            "the fourth line of a {kind} list names the file of labels: if this is the first file,"
            " put a line before it",
        ),
        "lbann-no-label-file": Rule(
            _NOTE, "no label file is named", "readers of images cannot use such a list"
        ),
        "lbann-no-number": Rule(
            _WARNING,
            "a number was due and none came: it is taken for 0, and those after it, too",
            "write {wanted}",
        ),
        "lbann-totals": Rule(
            _WARNING,
            "the header says {declared} {what} samples, the files add up to {found}",
            "LBANN does not compare them: exset convert writes the right totals",
        ),
        # Records
        "lbann-extra-words": Rule(
            _NOTE,
            "{raw} and what follows it is ignored: each line names one sample, a file",
            "labels are read from the label file",
        ),
        "lbann-wrapped-count": Rule(
            _WARNING, "a number of samples below 0 wraps to {value}", "write the right number"
        ),
        "lbann-repeated-file": Rule(
            _WARNING,
            "the file {name} was named before: its samples are in the list again",
            "LBANN cannot read back what it writes of such a list: name it once",
        ),
        "lbann-repeated-id": Rule(
            _WARNING, "{raw} is given again for this file", "remove it, unless it is meant twice"
        ),
        "lbann-extra-id": Rule(
            _WARNING,
            "{raw} is given again for this file, and counts once",
            "remove it",
        ),
        "lbann-two-levels": Rule(
            _WARNING,
            "{raw} has a slash in it: LBANN excludes only what is at the top of a file",
            "LBANN fails on such a list: use an inclusion list",
        ),
        "lbann-dots": Rule(
            _WARNING,
            "`...` is an id like any other where ids are text",
            'if it stands for a range, read the list with ids="integer" (--ids integer)',
        ),
        "lbann-ids-guessed": Rule(
            _NOTE,
            "all ids look like whole numbers, and are taken for such",
            'a list does not say so itself: ids="text" (--ids text) reads them as names',
        ),
        "lbann-repeated-label": Rule(
            _WARNING, "this file was given a label before: the last one counts", "remove the others"
        ),
        "lbann-odd-range": Rule(
            _WARNING, "this range is read oddly: {what}", "write each range as `first ... last`"
        ),
        "lbann-number-tail": Rule(_WARNING, "{what}", "write the number alone"),
    }
)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding by the rule of a code, at a place; words fill in its message."""
