"""Translate settings from one version of aeon to another."""

from typing import Final

from exset.core.errors import Finding, Findings, FormatError, Place
from exset.grammars.aeon.config.findings import finding_at, member_path
from exset.grammars.aeon.config.numbers import integer
from exset.grammars.aeon.config.schema import TABLES
from exset.grammars.aeon.config.schema_types import TITLES, Dialect, Kind
from exset.grammars.aeon.config.settings import Settings, Value

_SOURCE: Final = "loader configuration"
_RENAMED_TYPES: Final = {
    "etl localization": "etl localization_rcnn",
    "etl localization_rcnn": "etl localization",
}


def translated(settings: Settings, dialect: Dialect, lossy: bool, findings: Findings) -> Settings:
    """Return the settings for another version of aeon. findings: collects the changes.

    Raises FormatError for an etl type and for members that the other version does not know; with
    `lossy`, such members are dropped instead.
    """
    if settings.dialect == dialect:
        return settings
    new = _Translation(dialect, lossy, findings).settings(settings, "")
    is_random = settings["shuffle_enable"] or settings["shuffle_manifest"]
    is_random = is_random or settings["subset_fraction"] != 1
    if settings.dialect == "seed" and is_random and not settings["random_seed"]:
        findings.add(finding_at("aeon-random", Place(_SOURCE, field="random_seed")))
    return new


class _Translation:
    def __init__(self, dialect: Dialect, lossy: bool, findings: Findings) -> None:
        self.dialect = dialect
        self.lossy = lossy
        self.findings = findings

    def settings(self, old: Settings, path: str) -> Settings:
        table = old.table
        if self.dialect not in TABLES[table].dialects:
            table = _RENAMED_TYPES.get(table, table)
            if self.dialect not in TABLES[table].dialects:
                what = f"{path} has the type {old.type!r}, which {TITLES[self.dialect]} lacks"
                raise self.loss(path, what, "no other type can replace it")
            what = f"the type {old.type!r} becomes {TABLES[table].name!r}"
            self.report("aeon-changed", f"{path}.type", what, "it does the same")
        known = TABLES[table].members_of(self.dialect)
        given: dict[str, Value] = {}
        for name, value in old.given.items():
            inner = member_path(path, name)
            if name in known:
                given[name] = self.value(value, known[name].kind, inner)
            elif value == old.members[name].default:
                self.report(
                    "aeon-changed", inner, f"{inner} is left out", "its value is the default"
                )
            else:
                what = f"{TITLES[self.dialect]} has no member {inner}"
                if not self.lossy:
                    raise self.loss(inner, what, "leave it out with <--lossy or lossy=True>")
                self.report("aeon-left-out", inner, what, "exset leaves it out")
        return Settings(table, self.dialect, given)

    def value(self, value: Value, kind: Kind, path: str) -> Value:
        if isinstance(value, Settings):
            return self.settings(value, path)
        if isinstance(value, tuple):
            items = enumerate(value)
            return tuple(self.value(each, "any", f"{path}[{number}]") for number, each in items)
        if kind in ("int32", "uint32") and isinstance(value, int):
            new = integer(value, kind)
            if new != value:
                hint = "both numbers have the same 32 bits"
                self.report("aeon-changed", path, f"{path} becomes {new}", hint)
            return new
        return value

    def report(self, code: str, path: str, what: str, hint: str) -> None:
        self.findings.add(_finding(code, path, what, hint))

    def loss(self, path: str, what: str, hint: str) -> FormatError:
        return FormatError.of(_finding("aeon-lost", path, what, hint))


def _finding(code: str, path: str, what: str, hint: str) -> Finding:
    return finding_at(code, Place(_SOURCE, field=path or None), what=what, hint=hint)
