"""Read the labels of items from a file of any kind, for samplers of N classes by M samples."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from exset import api, formats
from exset.core.errors import Findings
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model
from exset.families.family import load
from exset.io.files import FilePath

if TYPE_CHECKING:
    from exset.runtime.samplers.grouping import Labels


def read_labels(
    path: FilePath,
    column: str | None = None,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
) -> "Labels":
    """Return the labels in a file, one for each item.

    The contents of the file decide its kind. `column`: for a manifest with a header, the number of
    a column, by default the last column. For other files, `column` and `findings` are as in
    `labels_in`. Raises FormatError for a file without labels, LimitError for a file above `limits`,
    and OSError.
    """
    source = api.read_source(path, limits=limits)
    fmt = formats.by_signature(bytes(source.view[: formats.HEAD]))
    if fmt is not None and fmt.family.labels is not None:
        labels = cast("Callable[[Model, str | None, str], Labels]", load(fmt.family.labels))
        return labels(fmt.read(source, limits=limits), column, source.name)
    from exset.runtime.samplers.label_files import labels_in

    return labels_in(source, column, findings=findings)
