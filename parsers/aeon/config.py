"""Convert aeon's loader configurations from JSON to `LoaderConfig`, and back.

`exset.grammars.aeon.config.schema` declares what each version of aeon accepts.
"""

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.reader import read
from exset.grammars.aeon.config.schema_types import Dialect
from exset.parsers.shared import canonical_json, json_tree


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    dialect: Dialect | str | None = None,
) -> LoaderConfig:
    """Read a configuration from JSON, and check it as a version of aeon does.

    `dialect` is the version of aeon. With None, exset tries the last version, then the others. If
    all versions reject the file, exset reads outdated members by their later names, each with a
    finding `aeon-refuses`. exset does not choose a version only because this version ignores
    members that another version rejects.

    `findings` collects the warnings; a FormatError has all errors. `engine` is as in
    `exset.parsers.shared.json_tree`. Raises FormatError for a configuration that aeon rejects,
    LimitError for a file beyond the limits, and ValueError for an unknown `dialect`.
    """
    findings = Findings() if findings is None else findings
    tree = json_tree.parse(source, limits=limits, findings=findings, engine=engine)
    return LoaderConfig(read(tree, source, dialect=dialect, findings=findings))


def render(
    config: LoaderConfig,
    /,
    *,
    findings: Findings | None = None,
    compact: bool = False,
    dialect: str | None = None,
    lossy: bool = False,
) -> bytes:
    """Return a configuration as JSON, which reads back as an equal configuration.

    The JSON has only the values that were set, without defaults. `compact` leaves out white space.
    `dialect`, `lossy`, `findings` and errors are as in `LoaderConfig.translated`.
    """
    import json

    if dialect:
        config = config.translated(dialect, lossy=lossy, findings=findings)
    text = json.dumps(config.to_dict(), ensure_ascii=False, separators=(",", ":")).encode()
    return text + b"\n" if compact else canonical_json.canonical(Source("configuration", text))


def canonical(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    dialect: Dialect | str | None = None,
) -> bytes:
    """Return the canonical text of a source, which does not depend on the version of aeon.

    Raises FormatError for a syntax error.
    """
    return canonical_json.canonical(source, limits=limits, engine=engine)
