"""Write one table by a writer for tables that come in chunks."""

from collections.abc import Callable
from io import BytesIO

from exset.core.errors import Findings
from exset.core.protocols import OptionValue
from exset.grammars.tables.table import Table


def whole(
    write: Callable[..., object],
    table: Table,
    *,
    findings: Findings | None,
    **options: OptionValue,
) -> bytes:
    """Return the file of one table; `write`: a `ChunkWriter`."""
    out = BytesIO()
    write([table], out, findings=findings, **options)
    return out.getvalue()
