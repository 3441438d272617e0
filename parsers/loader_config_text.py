"""aeon's loader configurations: `LoaderConfig` to JSON, which reads back as the same."""

import json

from exset.errors import Findings
from exset.grammars.loader_config import LoaderConfig


def render(
    config: LoaderConfig,
    /,
    *,
    findings: Findings | None = None,
    compact: bool = False,
    upgrade: bool = False,
) -> bytes:
    """The text of a configuration: what it gives, and no defaults.

    compact: without blanks. upgrade: for aeon's last version, as `LoaderConfig.upgraded`, whose
    findings and errors these are.
    """
    given = (config.upgraded(findings=findings) if upgrade else config).to_dict()
    if compact:
        text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    else:
        text = json.dumps(given, ensure_ascii=False, indent=1)
    return text.encode() + b"\n"
