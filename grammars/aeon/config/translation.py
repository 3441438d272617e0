"""A configuration for another version of aeon."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from exset.core.errors import Findings, FormatError
from exset.grammars.aeon.config.findings import Doubt, Places
from exset.grammars.aeon.config.numbers import whole
from exset.grammars.aeon.config.schema import TABLES
from exset.grammars.aeon.config.schema_types import TITLES, Dialect
from exset.grammars.aeon.config.settings import Settings, Value
from exset.grammars.columns.tree import Node

_NAME: Final = Places("loader configuration")
_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "etl localization": "etl localization_rcnn",
        "etl localization_rcnn": "etl localization",
    }
)
_DRAWS: Final = ("shuffle_enable", "shuffle_manifest")


def translated(settings: Settings, dialect: Dialect, lossy: bool, findings: Findings) -> Settings:
    """The settings for a version of aeon; `findings` says what changes.

    Raises FormatError for what that version cannot do, members unless `lossy`.
    """
    if settings.dialect == dialect:
        return settings
    return _Translation(dialect, lossy, findings).loader(settings)


class _Translation:
    def __init__(self, dialect: Dialect, lossy: bool, findings: Findings) -> None:
        self.dialect = dialect
        self.lossy = lossy
        self.findings = findings

    def loader(self, old: Settings) -> Settings:
        """The whole configuration."""
        new = self.settings(old, "")
        drawn = any(old[name] for name in _DRAWS) or old["subset_fraction"] != 1
        if old.dialect == "seed" and drawn and not old["random_seed"]:
            self.say("random_seed", "", "", "aeon-random")
        return new

    def settings(self, old: Settings, path: str) -> Settings:
        """An object."""
        name = old.table
        if self.dialect not in TABLES[name].dialects:
            name = _TYPES.get(name, name)
            if self.dialect not in TABLES[name].dialects:
                what = f"{path} is of type {old.type!r}, which {TITLES[self.dialect]} has not"
                raise self.lost(path, what, "there is nothing that could stand for it")
            what = f"the type {old.type!r} becomes {TABLES[name].name!r}"
            self.say(f"{path}.type", what, "it does the same")
        known = TABLES[name].known(self.dialect)
        given: dict[str, Value] = {}
        for key, value in old.given.items():
            inner = f"{path}.{key}" if path else key
            if key in known:
                given[key] = self.value(value, inner)
                if known[key].kind != old.members[key].kind and isinstance(value, int):
                    given[key] = self.whole(value, inner, known[key].kind == "uint32")
            elif value == old.members[key].default:
                self.say(inner, f"{inner} is left out", "it has its default value")
            else:
                what = f"{inner} has no place in {TITLES[self.dialect]}"
                error = self.lost(inner, what, "--lossy, lossy=True in Python, leaves it out")
                if not self.lossy:
                    raise error
                self.say(inner, what, "it is left out", "aeon-left-out")
        return Settings(name, self.dialect, given)

    def whole(self, value: int, path: str, unsigned: bool) -> int:
        """A number of another type."""
        new = whole(value, "uint32" if unsigned else "int32")
        if new != value:
            self.say(path, f"{path} becomes {new}", "the same 32 bits")
        return new

    def value(self, value: Value, path: str) -> Value:
        """A value."""
        if isinstance(value, Settings):
            return self.settings(value, path)
        if isinstance(value, tuple):
            new: list[Value] = []
            for number, each in enumerate(value):
                new.append(self.value(each, f"{path}[{number}]"))
            return tuple(new)
        assert isinstance(value, str | int | float | Node | None)
        return value

    def say(self, path: str, what: str, hint: str, code: str = "aeon-changed") -> None:
        """Say what changes."""
        self.findings.add(Doubt(code, path, None, {"what": what, "hint": hint}).finding(_NAME))

    def lost(self, path: str, what: str, hint: str) -> FormatError:
        """The error of what cannot be said."""
        doubt = Doubt("aeon-lost", path, None, {"what": what, "hint": hint})
        return FormatError.of(doubt.finding(_NAME))
