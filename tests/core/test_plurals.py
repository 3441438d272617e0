"""A count and its noun agree: one sample, two samples."""

import re
from pathlib import Path

import pytest

import exset
from exset import explain
from exset.core.text import Count, counted
from exset.grammars.columns.findings import Rules
from tests.house import modules
from tests.messages import FOLDER

NOUNS = "sample|record|field|byte|event|example|file|row|value|type|block|element|class|batch|item"
# A number in a message, and a plural after it.
UNCOUNTED = re.compile(
    rf"""\{{(?:len\([^{{}}]*\)|[^{{}}]*:,)\}} (?:more )?(?:{NOUNS})(?:e?s)\b""", re.VERBOSE
)
# Here the number is never 1.
LARGE = (
    *("limits.max_", "_limits.max_", "{used:,}", "{made:,}", "{claimed:,}", "{size:,} bytes"),
    *("{sizes.max():,}", "{limits", "{low:,} to", "len(paths)", "len(found)"),
)


def test_counts() -> None:
    assert [counted(1, "class"), counted(3, "class"), counted(0, "batch")] == [
        *("1 class", "3 classes", "0 batches")
    ]
    assert (
        f"{Count(1):event} {Count(2000):event} {Count(3)} {Count(4):,}"
        == "1 event 2,000 events 3 4"
    )


def test_a_finding_counts() -> None:
    rules = Rules("exset.grammars.lbann:sample-lists.findings")
    for count, text in ((1, "1 excluded sample,"), (2, "2 excluded samples,")):
        made = rules.finding("lbann-totals", None, what="excluded", declared=count, found=3)
        assert text in made.message
    assert "... ... samples" in " ".join(explain.explain("lbann-totals").says)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_no_message_says_1_samples(path: Path) -> None:
    text = "\n".join(re.findall(r"^(?![=>$%]).*$", path.read_text("utf-8"), re.MULTILINE))
    assert not re.findall(rf"(?<![\d.,-])(?<!at most )\b1 (?:{NOUNS})e?s\b", text)


def test_counts_in_the_source_have_nouns_that_agree() -> None:
    wrong = [
        f"{name}: {found[0]}"
        for name, path in modules().items()
        for line in path.read_text("utf-8").splitlines()
        if (found := UNCOUNTED.search(line)) and not any(each in line for each in LARGE)
    ]
    assert not wrong, "\n".join(wrong)


def test_one_of_everything() -> None:
    examples = exset.loads("I: 1 T: 1;", format="ex", model=exset.ExampleSet)
    assert "1 examples" not in repr(exset.ExampleSampler(examples))
    assert "1 inputs" not in repr(exset.to_arrays(examples))
