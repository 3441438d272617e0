"""Lists and folders of files: tables of paths and labels."""

from typing import Final

from exset.families.format import Format
from exset.families.option import BASE, CONTENTS, LOSSY, ROOT
from exset.families.tables import TABLE

_FINDINGS: Final = ("exset.grammars.tables:lists.findings", "exset.grammars.tables:tables.findings")

# A path with the suffix of a picture or a sound, blanks, and a number up to the end of the line.
_SUFFIXES: Final = r"(?i:jpe?+g|png|bmp|gif|tiff?+|webp|ppm|pgm|wav|flac|ogg|mp3)"
_LABEL: Final = rf"\.{_SUFFIXES} ++-?+[0-9]++\r?+(?:\n|\Z)"
_LIST_SIGNATURE: Final = rf"(?:(?!{_LABEL})[^\n\t\0])++{_LABEL}"

_CONTENTS: Final = tuple(
    f"*/*.{suffix}"
    for suffix in (
        *("[jJ][pP][gG]", "[jJ][pP][eE][gG]", "[pP][nN][gG]", "[wW][aA][vV]", "[fF][lL][aA][cC]"),
        *("[bB][mM][pP]", "[gG][iI][fF]", "[tT][iI][fF]", "[tT][iI][fF][fF]", "[wW][eE][bB][pP]"),
        *("[pP][pP][mM]", "[pP][gG][mM]", "[mM][pP]3", "[oO][gG][gG]", "[mM][pP]4"),
    )
)
"""Patterns of names of pictures and sounds in subfolders."""

FORMATS: Final = (
    Format(
        name="file_list",
        title="file list of Caffe and DALI",
        family=TABLE,
        suffixes=(".filelist",),
        signature=_LIST_SIGNATURE,
        reader="exset.parsers.tables.file_list:parse",
        writer="exset.parsers.tables.file_list:render",
        options=(LOSSY,),
        is_partial=True,
        findings=_FINDINGS,
        strategy="exset.testing.lists:labelled_files",
    ),
    Format(
        name="lst",
        title="MXNet list of images",
        family=TABLE,
        suffixes=(".lst",),
        reader="exset.parsers.tables.lst:parse",
        writer="exset.parsers.tables.lst:render",
        options=(LOSSY,),
        is_partial=True,
        findings=_FINDINGS,
        strategy="exset.testing.lists:indexed_files",
    ),
    Format(
        name="imagefolder",
        title="folder of classes",
        family=TABLE,
        suffixes=(),
        is_folder=True,
        contains=("metadata.csv", "metadata.jsonl", "metadata.parquet", *_CONTENTS),
        binary=True,
        reader="exset.runtime.tables.image_folder:read",
        writer="exset.runtime.tables.image_folder_write:write",
        read_options=(CONTENTS,),
        options=(BASE, ROOT, LOSSY),
        findings=(*_FINDINGS, "exset.grammars.tables:arrow.findings"),
        strategy="exset.testing.lists:folders",
    ),
)
