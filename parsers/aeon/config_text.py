"""aeon's loader configurations: `LoaderConfig` to JSON, which reads back as the same."""

import json

from exset.core.errors import Findings
from exset.grammars.aeon.config.model import LoaderConfig


def render(
    config: LoaderConfig,
    /,
    *,
    findings: Findings | None = None,
    compact: bool = False,
    dialect: str | None = None,
    lossy: bool = False,
) -> bytes:
    """The text of a configuration: what it gives, and no defaults.

    compact: without blanks. dialect, lossy: for that version of aeon, with findings and errors as
    `LoaderConfig.translated`.
    """
    if dialect:
        config = config.translated(dialect, lossy=lossy, findings=findings)
    layout = {"separators": (",", ":")} if compact else {"indent": 1}
    return json.dumps(config.to_dict(), ensure_ascii=False, **layout).encode() + b"\n"
