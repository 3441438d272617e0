"""Pattern and feature files of svmlight, SNNS, CNTK and MikeNet, which exset reads as tables."""

from typing import Final

from exset.families.format import Format
from exset.families.option import LOSSY, Option
from exset.families.signatures import any_of
from exset.families.tables import TABLE

_SHARED: Final = (
    "exset.grammars.siblings:siblings.findings",
    "exset.grammars.tables:tables.findings",
)

FEATURES: Final = Option(
    "features",
    "Set the number of svmlight features, the same for all files of a data set.",
    metavar="N",
    default="the highest index in the file",
)
DENSE: Final = Option(
    "dense", "Read svmlight features as a dense array, not as indices and values."
)

_MIKENET: Final = r"(?:TAG|PROB|CLAMP|INPUT|SOFT_?+CLAMP|TARGET)[A-Z]*+(?:[ \t\r\n]|\Z)"

# The place of an object in an archive, in a script file of Kaldi.
_PLACE: Final = r"(?:(?!\.ark:)[^\s\0]){1,999}+\.ark:[0-9]++(?:[\[\r\n]|\Z)"

# The mark of a header; or two or more names, each with a type character.
_TYPED: Final = r"[$%#|@&^][A-Za-z][^\t\n]*+"
_EMERGENT: Final = (
    rf"[\r\n]*+(?:\"?+_H:\"?+(?:[\t,]|\Z)|(?!@){_TYPED}(?:\t{_TYPED})++(?:\t?+[$%#|@&^]?+\Z|\n))"
)

FORMATS: Final = (
    Format(
        name="svmlight",
        title="svmlight and libsvm file",
        family=TABLE,
        suffixes=(".svmlight", ".svm", ".libsvm"),
        reader="exset.parsers.siblings.svmlight:parse",
        writer="exset.parsers.siblings.svmlight:render",
        read_options=(
            Option(
                "zero_based",
                "Count svmlight features from 0 (yes) or from 1 (no); auto: from 0 if the file has"
                " an index 0.",
                choices=("auto", "yes", "no"),
                default="auto",
            ),
            FEATURES,
            DENSE,
        ),
        options=(LOSSY,),
        is_partial=True,
        findings=("exset.grammars.siblings:svmlight.findings", *_SHARED),
        strategy="exset.testing.siblings:features",
    ),
    Format(
        name="snns",
        title="SNNS pattern file",
        family=TABLE,
        suffixes=(".pat",),
        signature=any_of("SNNS pattern definition file"),
        reader="exset.parsers.siblings.snns:parse",
        writer="exset.parsers.siblings.snns:render",
        options=(LOSSY,),
        is_partial=True,
        findings=("exset.grammars.siblings:snns.findings", *_SHARED),
        strategy="exset.testing.siblings:patterns",
    ),
    Format(
        name="ctf",
        title="CNTK text file",
        family=TABLE,
        suffixes=(".ctf",),
        signature=r"(?:\xef\xbb\xbf)?+\|[A-Za-z#][^\n|\0]*+(?:[\n|]|\Z)",
        reader="exset.parsers.siblings.ctf:parse",
        writer="exset.parsers.siblings.ctf:render",
        read_options=(
            Option(
                "streams",
                "Read only these streams of a CNTK file, with these kinds and sizes:"
                " A=dense:5,B=sparse:100.",
                metavar="STREAMS",
                default="all streams, with sizes detected from the file",
            ),
        ),
        options=(LOSSY,),
        is_partial=True,
        findings=("exset.grammars.siblings:ctf.findings", *_SHARED),
        strategy="exset.testing.siblings:streams",
    ),
    Format(
        name="mikenet",
        title="MikeNet example file",
        family=TABLE,
        suffixes=(".mikenet",),
        other_suffixes=(".ex",),
        signature=rf"[ \t\r\n]*+(?:;[ \t\r\n]++)?+{_MIKENET}",
        reader="exset.parsers.siblings.mikenet:parse",
        writer="exset.parsers.siblings.mikenet:render",
        options=(LOSSY,),
        is_partial=True,
        findings=("exset.grammars.siblings:mikenet.findings", *_SHARED),
        strategy="exset.testing.siblings:timed_patterns",
    ),
    Format(
        name="emergent",
        title="table of emergent",
        family=TABLE,
        suffixes=(".emergent",),
        other_suffixes=(".tsv", ".csv"),
        signature=_EMERGENT,
        reader="exset.parsers.siblings.emergent:parse",
        writer="exset.parsers.siblings.emergent:render",
        read_options=(
            Option(
                "as_go",
                "Read a table of emergent as the Go version of emergent does: fill tensors in the"
                " order of the columns, and ignore the indices in the names of columns.",
            ),
        ),
        options=(LOSSY,),
        is_partial=True,
        findings=(
            "exset.grammars.siblings:emergent.findings",
            "exset.grammars.tables:csv.findings",
            *_SHARED,
        ),
        strategy="exset.testing.siblings:layers",
    ),
    Format(
        name="kaldi_ark",
        title="archive of Kaldi",
        family=TABLE,
        suffixes=(".ark",),
        other_suffixes=(".scp",),
        signature=rf"[^\s\0]{{1,200}}+[ \t](?:\0B(?:[FDC\4]|\Z)|{_PLACE})",
        binary=True,
        reader="exset.runtime.siblings.ark:read",
        writer="exset.runtime.siblings.ark:write",
        read_options=(
            Option(
                "archives",
                "Open the archives in this folder that a script file (.scp) of Kaldi names. Resolve"
                " relative paths from this folder.",
                metavar="FOLDER",
                default="open none",
            ),
        ),
        options=(
            Option(
                "side",
                "Write the inputs or the targets to a Kaldi archive.",
                choices=("inputs", "targets"),
                default="inputs",
            ),
            Option(
                "matrices",
                "Round the matrices of a Kaldi archive to 16 bits (CM2) or 8 bits (CM3).",
                choices=("CM2", "CM3"),
                default="not rounded",
            ),
            LOSSY,
        ),
        is_partial=True,
        findings=(
            "exset.grammars.siblings:ark.findings",
            "exset.grammars.siblings:kaldi.findings",
            *_SHARED,
        ),
        strategy="exset.testing.siblings:archives",
    ),
    Format(
        name="kaldi_data",
        title="data directory of Kaldi",
        family=TABLE,
        suffixes=(),
        is_folder=True,
        contains=("utt2spk", "wav.scp"),
        reader="exset.runtime.siblings.kaldi_data:read",
        writer="exset.runtime.siblings.kaldi_data:write",
        options=(LOSSY,),
        is_partial=True,
        findings=("exset.grammars.siblings:kaldi.findings", *_SHARED),
        strategy="exset.testing.siblings:utterances",
    ),
)
