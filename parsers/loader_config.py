"""aeon's loader configurations, JSON: bytes to `LoaderConfig`.

`exset.parsers.loader_config_text` is the way back. What each version of aeon takes stands in
`exset.grammars.loader_tables`; a configuration is read as the last version reads it, or else as the
first of the others that takes it.
"""

from exset.errors import Findings
from exset.grammars.loader_config import LoaderConfig
from exset.grammars.loader_kinds import Dialect
from exset.grammars.loader_reading import read
from exset.grammars.loader_traps import Places
from exset.kernels import Engine
from exset.limits import DEFAULT, Limits
from exset.parsers import json_tree
from exset.source import Source


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
    `exset.parsers.json_tree`. Raises FormatError and LimitError; FormatError for no dialect.
    """
    findings = Findings() if findings is None else findings
    tree = json_tree.parse(source, limits=limits, findings=findings, engine=engine)
    return LoaderConfig(read(tree, Places(source), dialect=dialect, findings=findings))
