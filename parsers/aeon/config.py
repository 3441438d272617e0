"""aeon's loader configurations, JSON: bytes to `LoaderConfig`.

`exset.parsers.aeon.config_text` is the way back. What each version of aeon takes stands in
`grammars.aeon.config.schema`; a configuration is read as the last version reads it, or else as the
first of the others that takes it.
"""

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.aeon.config.findings import Places
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.schema_types import Dialect
from exset.grammars.aeon.config.settings_reader import read
from exset.parsers.shared import json_tree


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    dialect: Dialect | str | None = None,
) -> LoaderConfig:
    """The configuration that a JSON text holds, checked as a version of aeon checks it.

    dialect: the version; with None the last that takes it, and, where none does, the members of the
    first versions are read as those that took their place, each with a finding `aeon-refuses`.
    `findings` collects what aeon accepts but people are caught by, and all errors but the first,
    which is raised as FormatError and says how many more there are. `engine` as in
    `exset.parsers.shared.json_tree`. Raises FormatError and LimitError; FormatError for no dialect.
    """
    findings = Findings() if findings is None else findings
    tree = json_tree.parse(source, limits=limits, findings=findings, engine=engine)
    return LoaderConfig(read(tree, Places(source), dialect=dialect, findings=findings))
