"""What binds the header and the files of a sample list: their number, repeats, totals."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.columns.arrays import Longs
from exset.grammars.lbann.list_files import Totals
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList, duplicate_files
from exset.parsers.engine.errors import Unexpected, shown
from exset.parsers.lbann.list_columns import KEPT
from exset.parsers.lbann.list_header import Header

_TYPES: Mapping[str, str] = MappingProxyType({kind.replace("-", "_"): kind for kind in Kind})
_LINE: Mapping[bool, str] = MappingProxyType(
    {
        True: "a line is: file, included samples, excluded samples, ids",
        False: "a line is: file, included samples, ids",
    }
)


def hint(unexpected: Unexpected) -> str | None:
    """Return advice for a word that the grammar rejects."""
    before, found, expected = unexpected.before, unexpected.word, unexpected.expected
    if "SINGLE_SAMPLE" in expected:
        meant = get_close_matches(shown(found)[1:-1].upper().replace("-", "_"), _TYPES, 1, 0.5)
        which = f": {_TYPES[meant[0]]}?" if meant else ", and there are no comments"
        return f"the first line is the type of the list, in letters of either case{which}"
    kind = Kind(before.split(None, 1)[0].decode("ascii").upper())
    if expected == {"WORD"}:
        return "the third line is the base directory: it may be `.` or `/`, not empty"
    if expected == {"NUMBER"}:
        *lines, line = before.split(b"\n")
        if len(lines) > 1 and not lines[1].strip():
            return "the second line is empty: the numbers of samples and files belong there"
        if b"," in line:
            return "words are separated by blanks, not by commas"
        if line.lstrip().startswith(b"#"):
            return "a sample list has no comments: remove the line"
        advice = f"LBANN never ends on this, or reads what it likes; {_LINE[kind.has_excluded]}"
        if before.count(b"\n") == 3 and found in (b"\n", b"") and not kind.has_label_file:
            advice += f"; a {kind} list has no line for a label file"
        return advice
    return None


def check_files(
    header: Header, samples: SampleList, starts: Longs, source: Source, findings: Findings
) -> None:
    """Check how many files there are, and those named twice; starts: where their names begin."""
    declared, count = header.counts["files"], len(samples.name)
    if declared != count:
        advice = f"if no file is missing, write {count:,} there: LBANN refuses any other number"
        if header.kind.has_label_file and count == declared - 1:
            advice = "the fourth line names the file of labels: was it left out?"
        elif not header.kind.has_label_file and count == declared - 1:
            advice = f"the third line names the base directory: was it left out? {advice}"
        elif header.kind is Kind.MULTI_SAMPLE_INCLUSION_V2 and "files" in header.spans:
            advice = f"a {header.kind} list counts included samples and files, no excluded samples"
        place = Place.of(source.name)
        if "files" in header.spans:
            place = Place.in_text(source, header.spans["files"])
        raise FormatError(
            f"the header counts {counted(declared, 'file')}, the list has {count:,}",
            place=place,
            hint=advice,
            code="lbann-file-count",
        )
    if samples.kind.is_single or count < 2:
        return
    first = duplicate_files(samples)
    again = np.flatnonzero(first != np.arange(count))
    included, excluded = samples.included, samples.excluded
    for rank, file in enumerate(again.tolist()):
        head = int(first[file])
        name = samples.name[file] or b""
        span = Span(int(starts[file]), int(starts[file]) + len(name))
        size = int(included[head]) + int(excluded[head])
        found = int(included[file]) + (int(excluded[file]) if samples.kind.is_exclusion else 0)
        if found != size % 2**64:
            raise FormatError(
                f"the file was named before with {counted(size, 'sample')}: LBANN takes it"
                f" again only if all of them are included, not {found:,}",
                source=source,
                span=span,
                hint="name each file once, with all the ids that are wanted of it",
                code="lbann-repeated-file",
            )
        if rank < KEPT:
            times = again.size - rank if rank == KEPT - 1 else 1
            place = Place.in_text(source, span)
            findings.add(finding_at("lbann-repeated-file", place, name=shown(name)), times)


def check_totals(
    header: Header, samples: SampleList, source: Source, findings: Findings
) -> Totals | None:
    """The totals of the header where they are not what the files add up to."""
    found = samples.computed
    declared = Totals(
        header.counts.get("included", found.included), header.counts.get("excluded", found.excluded)
    )
    for what, said, real in zip(Totals._fields, declared, found, strict=True):
        if said != real:
            span = header.spans.get(what)
            place = Place.of(source.name) if span is None else Place.in_text(source, span)
            findings.add(finding_at("lbann-totals", place, what=what, declared=said, found=real))
    return None if declared == found else declared
