"""A column of a manifest, with the etl object of a configuration that decodes it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from exset.core.errors import Finding, Findings, LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.io.access import Access
from exset.parsers.engine.errors import shown
from exset.runtime.aeon.elements import contents, elements, file_size
from exset.runtime.aeon.manifest_files import path_of


@dataclass(frozen=True)
class Column:
    """A column of a manifest, with the data to check its elements.

    etl: the object `etl[number]` of the configuration `config`. name: the manifest in messages.
    base: the folder of its relative paths. access: its roots must contain all files.
    """

    etl: Settings
    number: int
    config: str
    manifest: Manifest
    name: str
    base: str
    access: Access
    limits: Limits
    findings: Findings
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
        """Return the place of a member of the etl object."""
        return Place(self.config, field=f"etl[{self.number}].{member}")

    def refuse(self, why: str, hint: str) -> None:
        """Add a finding: aeon cannot decode elements of this type."""
        words = {"title": self.title, "column": self.number, "why": why, "hint": hint}
        self.findings.add(finding_at("aeon-column", self.of_config("type"), **words))

    def report(self, code: str, record: int, **words: object) -> None:
        """Add a finding about a record's element; findings that are only counted are copies."""
        if code not in self._last or self.findings.count(code) < self.findings.keep:
            line = int(self.manifest.lines[record])
            place = Place(self.name, line=line or None, field=f"[{record}][{self.number}]")
            element = self.manifest[record][self.number]
            words |= {"title": self.title, "element": shown(element) if element else "a field"}
            self._last[code] = finding_at(code, place, **words)
        self.findings.add(self._last[code])

    def sizes(self) -> Iterator[tuple[int, int]]:
        """Yield the records with the sizes of their elements; elements that fail are left out."""
        found = elements(self.manifest, self.number, base=self.base)
        if self.kind is not ElementType.FILE:
            lengths = found.strings.lengths.tolist()
            present = found.strings.present.tolist()
            yield from ((row, size) for row, size in enumerate(lengths) if present[row])
            return
        for row, path in enumerate(found.strings):
            size = file_size(self.manifest, row, self.number, path or b"", self.access)
            if isinstance(size, int):
                yield row, size

    def beginnings(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Yield records and the first bytes of their elements, as in `sizes`, also if empty."""
        found = elements(self.manifest, self.number, base=self.base).strings
        for row, _ in self.sizes():
            element = found[row] or b""
            if self.kind is ElementType.FILE:
                try:
                    with open(path_of(element), "rb") as file:
                        element = file.read(size)
                except OSError:  # the check of the manifest reports it
                    continue
            yield row, element[:size]

    def contents(self) -> Iterator[tuple[int, str, bytes]]:
        """Yield records, the names of their files, and their elements, as in `sizes`.

        Raises LimitError for a file of more than `max_text` bytes.
        """
        found = elements(self.manifest, self.number, base=self.base).strings
        if self.kind is not ElementType.FILE:
            for row, each in enumerate(found):
                if each is not None:
                    yield row, self.name, each
            return
        for row, size in self.sizes():
            path = found[row] or b""
            name = path.decode("utf-8", "surrogateescape")
            if size > self.limits.max_text:
                message = f"it has {size:,} bytes: too many for a text"
                place = Place(name)
                raise LimitError(message, place=place, hint=limit_hint("max_text"))
            data = contents(self.manifest, row, self.number, path, self.access)
            if isinstance(data, bytes):
                yield row, name, data
