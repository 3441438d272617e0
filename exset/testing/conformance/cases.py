"""The cases of the conformance kit: files, and what they mean.

`data/*.toml` are tables of declared cases, one case for each rule. `data/*.jsonl` has the meaning
of each valid case, and cases that the strategies of `exset.testing` once drew at random.
"""

import json
import os
import tomllib
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, TypeAlias, cast

from exset.core.suggestions import did_you_mean
from exset.io.named import open_named
from exset.testing.conformance.nodes import Document
from exset.testing.conformance.written import data_of

VERSION: Final = 1
"""The version of the cases; equal versions export the same bytes on every machine."""

MEANING: Final = ".meaning.json"
"""The suffix of the file that holds the meaning of an exported case."""

HOME: Final = os.path.join(os.path.dirname(__file__), "data")
"""The folder of the tables."""

Verdict: TypeAlias = Literal["valid", "invalid", "differs"]
Severity: TypeAlias = Literal["error", "warning", "note"]

VERDICTS: Final[tuple[Verdict, ...]] = ("valid", "invalid", "differs")
"""The folders of exported cases, in each format's folder."""


@dataclass(frozen=True)
class Case:
    """A file, and how a reader must read it.

    - `verdict`: a reader must accept a `valid` file and refuse an `invalid` file. On a file that
      `differs`, the real systems disagree, or one of them crashes.
    - `meaning`: what the file means, for files that exset reads.
    - `rule`: the tested rule in words. `section`: the section of the manual that has this rule.
    - `features`: the features that a reader needs.
    - `agree`: the real programs that agree with the case.
    - `severity`: how bad a wrong answer is: `error` if people write such files, `warning` if such
      files are unusual.
    - `systems`: what each real system does with a file that differs.
    - `options`: the options of exset's reader.
    """

    name: str
    format: str
    verdict: Verdict
    data: bytes = field(repr=False)
    rule: str
    section: str
    features: tuple[str, ...] = ()
    agree: tuple[str, ...] = ()
    severity: Severity = "error"
    systems: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    meaning: Document | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The format, the verdict and the name: `ex/valid/header-none`."""
        return f"{self.format}/{self.verdict}/{self.name}"

    @property
    def path(self) -> str:
        """The path of the case's file in an export."""
        return f"{self.id}.{self.format}"

    @property
    def meaning_path(self) -> str:
        """The path of the case's meaning in an export."""
        return f"{self.id}{MEANING}"


def cases(format: str | None = None) -> tuple[Case, ...]:
    """Return all cases, or all cases of a format, in a fixed order.

    Raises ValueError, which lists the formats, for a format without cases.
    """
    if format is None:
        return _all()
    if format not in formats():
        known = ", ".join(formats())
        hint = did_you_mean(format, formats())
        hint = f"{hint} The formats are" if hint else "choose"
        raise ValueError(f"no cases for the format {format!r}: {hint} {known}")
    return tuple(each for each in _all() if each.format == format)


@cache
def formats() -> tuple[str, ...]:
    """Return the formats that have cases."""
    return tuple(dict.fromkeys(each.format for each in _all()))


@cache
def _all() -> tuple[Case, ...]:
    kept = {(row["format"], row["name"]): row for row in _rows()}
    found = []
    for table in tables(".toml"):
        for case in declared(table):
            row = kept.pop((case.format, case.name), None)
            found.append(_with(case, row))
    drawn = [
        Case(
            name=cast(str, name),
            format=cast(str, format),
            verdict="valid",
            data=b64decode(cast(str, row["data"])),
            rule="a drawn file",
            section="all",
            features=tuple(cast(list[str], row["features"])),
            options=cast(dict[str, str], row.get("options", {})),
            meaning=cast(Document, row["meaning"]),
        )
        for (format, name), row in kept.items()
        if "data" in row
    ]
    return tuple(sorted([*found, *drawn], key=lambda each: (each.format, each.verdict != "valid")))


def _with(case: Case, row: dict[str, object] | None) -> Case:
    if row is None:
        return case
    features = tuple(sorted({*case.features, *cast(list[str], row["features"])}))
    meaning = cast("Document | None", row["meaning"])
    return Case(**{**vars(case), "meaning": meaning, "features": features})


def _rows() -> Iterator[dict[str, object]]:
    for table in tables(".jsonl"):
        with open_named(os.path.join(HOME, table), "rb") as file:
            for line in file:
                yield json.loads(line)


def tables(suffix: str) -> list[str]:
    """Return the names of the tables of cases with a suffix, such as `.toml`."""
    return sorted(name for name in os.listdir(HOME) if name.endswith(suffix))


def declared(name: str) -> Iterator[Case]:
    """Yield the cases of the table `name`, without their meanings."""
    with open_named(os.path.join(HOME, name), "rb") as file:
        table = tomllib.load(file)
    prefix = table.get("prefix", name.removesuffix(".toml").partition("-")[2])
    for verdict in VERDICTS:
        for row, rule, written, *more in table.get(verdict, ()):
            extra = more[0] if more else {}
            yield Case(
                name=f"{prefix}-{row}",
                format=extra.get("format", table["format"]),
                verdict=verdict,
                data=data_of(written, table),
                rule=rule,
                section=table["section"],
                features=tuple(sorted({*table["features"], *extra.get("features", ())})),
                agree=() if verdict == "differs" else tuple(extra.get("agree", table["agree"])),
                severity=extra.get("severity", table.get("severity", "error")),
                systems=extra.get("systems", {}),
                options={**table.get("options", {}), **extra.get("options", {})},
            )
