"""A configuration for aeon's last version."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from exset.errors import Findings, FormatError
from exset.grammars.json_values import Node
from exset.grammars.loader_kinds import TITLES, VERSIONS, Version
from exset.grammars.loader_numbers import whole
from exset.grammars.loader_settings import Settings, Value
from exset.grammars.loader_tables import TABLES
from exset.grammars.loader_traps import Doubt, Places

LAST: Final[Version] = VERSIONS[0]

_TYPES: Final[Mapping[str, str]] = MappingProxyType({"etl localization": "etl localization_rcnn"})


def upgraded(settings: Settings, findings: Findings) -> Settings:
    """The settings for the last version; `findings` says what changes.

    Raises FormatError for what the last version cannot do.
    """
    return settings if settings.version == LAST else _Upgrade(findings).settings(settings, "")


class _Upgrade:
    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def settings(self, old: Settings, path: str) -> Settings:
        """An object for the last version."""
        name = _TYPES.get(old.table, old.table)
        if LAST not in TABLES[name].versions:
            what = f"{path} is of type {old.type!r}, which {TITLES[LAST]} has not"
            doubt = Doubt("aeon-lost", path, None, {"what": what})
            raise FormatError.of(doubt.finding(Places("loader configuration")))
        if name != old.table:
            new = TABLES[name].name
            self.say(path, f"the type {old.type!r} becomes {new!r}", "it is called so since 2017")
        known = TABLES[name].known(LAST)
        given: dict[str, Value] = {}
        for key, value in old.given.items():
            inner = f"{path}.{key}" if path else key
            if key not in known:
                hint = f"{TITLES[LAST]} does not know it"
                self.say(inner, f"{inner} is left out", hint)
                continue
            given[key] = self.value(value, inner)
            if known[key].kind == "uint32" and isinstance(value, int) and value < 0:
                given[key] = whole(value, "uint32")
                self.say(inner, f"{inner} becomes {given[key]}", "it has no sign any more")
        return Settings(name, LAST, given)

    def value(self, value: Value, path: str) -> Value:
        """A value for the last version."""
        if isinstance(value, Settings):
            return self.settings(value, path)
        if isinstance(value, tuple):
            upgraded: list[Value] = []
            for number, each in enumerate(value):
                upgraded.append(self.value(each, f"{path}[{number}]"))
            return tuple(upgraded)
        assert isinstance(value, str | int | float | Node | None)
        return value

    def say(self, path: str, what: str, hint: str) -> None:
        """Say what changes."""
        doubt = Doubt("aeon-changed", path, None, {"what": what, "hint": hint})
        self.findings.add(doubt.finding(Places("loader configuration")))
