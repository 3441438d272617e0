"""A column of a manifest, with the configuration's object for this column in the list `etl`.

The object says how aeon decodes the elements of the column.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from exset.core.errors import Finding, Findings, LimitError, Place, Severity
from exset.core.limits import limit_hint
from exset.core.protocols import CheckOptions
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.strings import Strings
from exset.io.named import open_named
from exset.parsers.engine.errors import shown
from exset.runtime.aeon.elements import contents, elements, file_size
from exset.runtime.aeon.manifest_files import path_of

Size: TypeAlias = tuple[float, float]
"""The width and the height of a picture, in pixels."""


@dataclass(frozen=True)
class Column:
    """A column of a manifest, with the configuration's object for this column in the list `etl`.

    etl: the object `etl[number]` of the configuration `config`. options: how to check the files of
    the manifest. failed: the records whose elements have errors. picture_sizes: for each record,
    the sizes that its picture may have, by the picture's header or the annotation.
    """

    etl: Settings
    number: int
    config: str
    manifest: Manifest
    options: CheckOptions
    findings: Findings
    failed: set[int] = field(default_factory=set)
    picture_sizes: dict[int, Sequence[Size]] = field(default_factory=dict)
    _last: dict[str, Finding] = field(default_factory=dict)

    @property
    def kind(self) -> ElementType:
        """The type of the column's elements."""
        return self.manifest.types[self.number]

    @property
    def title(self) -> str:
        """The name of the etl object in messages."""
        return f"etl[{self.number}] ({self.etl.type})"

    def of_config(self, member: str) -> Place:
        """Return the place of a member of this column's etl object in the configuration."""
        return Place(self.config, field=f"etl[{self.number}].{member}")

    def refuse(self, why: str, hint: str) -> None:
        """Add the finding that aeon cannot decode elements of this type. why: the reason."""
        words = {"title": self.title, "column": self.number, "why": why, "hint": hint}
        self.findings.add(finding_at("aeon-column", self.of_config("type"), **words))

    def report(self, code: str, record: int, **words: object) -> None:
        """Add a finding about the element of a record. words: values for the finding's message.

        `Findings` keeps a limited number of findings for each code, and counts the others. When a
        code has reached this number, its last kept finding is added again, which is faster than
        making a new finding.
        """
        if code not in self._last or self.findings.count(code) < self.findings.keep:
            line = int(self.manifest.lines[record])
            place = Place(self.options.name, line=line or None, field=f"[{record}][{self.number}]")
            element = self.manifest[record][self.number]
            words |= {"title": self.title, "element": shown(element) if element else "a field"}
            self._last[code] = finding_at(code, place, **words)
        self.findings.add(self._last[code])
        if self._last[code].severity is Severity.ERROR:
            self.failed.add(record)

    @cached_property
    def elements(self) -> Strings:
        """All elements of the column: texts, bytes, or, for FILE, paths joined with the base
        folder.
        """
        return elements(self.manifest, self.number, base=self.options.base).strings

    @cached_property
    def sizes(self) -> Mapping[int, int]:
        """The sizes of the elements in bytes, {index of a record: size}.

        Elements that cannot be made or read are left out.
        """
        if self.kind is not ElementType.FILE:
            lengths, present = self.elements.lengths.tolist(), self.elements.present.tolist()
            return {row: size for row, size in enumerate(lengths) if present[row]}
        found = {
            row: file_size(self.manifest, row, self.number, path or b"", self.options.access)
            for row, path in enumerate(self.elements)
        }
        return {row: size for row, size in found.items() if isinstance(size, int)}

    def beginnings(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Yield (record, beginning) for each record in `sizes`: its index, and at most the first
        `size` bytes of its element.
        """
        for row in self.sizes:
            element = self.elements[row] or b""
            if self.kind is ElementType.FILE:
                try:
                    with open_named(os.fsdecode(path_of(element)), "rb") as file:
                        element = file.read(size)
                except OSError:  # the check of the manifest reports it
                    continue
            yield row, element[:size]

    def contents(self, limit: str = "max_text") -> Iterator[tuple[int, str, bytes]]:
        """Yield (record, name, element) for each record in `sizes`: its index, the name of the
        element's file, and the element.

        limit: the name of the limit for the bytes of a file. Raises LimitError for a larger file.
        """
        most = getattr(self.options.limits, limit)
        for row, size in self.sizes.items():
            element = self.elements[row] or b""
            if self.kind is not ElementType.FILE:
                yield row, self.options.name, element
                continue
            name = element.decode("utf-8", "surrogateescape")
            if size > most:
                message = f"the file has {size:,} bytes, more than the limit of {most:,}"
                raise LimitError(message, place=Place(name), hint=limit_hint(limit))
            data = contents(self.manifest, row, self.number, element, self.options.access)
            if isinstance(data, bytes):
                yield row, name, data
