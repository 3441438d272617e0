"""Check the files that a loader configuration names: its manifest, the elements, the cache."""

import os
from contextlib import suppress
from dataclasses import replace
from typing import Final

from exset.core.errors import Findings, FormatError, Place
from exset.core.protocols import CheckOptions
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_findings import finding_at as manifest_finding
from exset.io.access import is_folder
from exset.io.beneath import OutsideError, check_regular_file, open_regular
from exset.parsers.aeon.manifest import parse
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.config_column import Column
from exset.runtime.aeon.config_decode import check_decoding
from exset.runtime.aeon.config_elements import check
from exset.runtime.aeon.config_pictures import check_equal_sizes
from exset.runtime.aeon.manifest_files import check_named, path_of
from exset.runtime.aeon.missing_files import Folder
from exset.runtime.aeon.selection import BLOCK_SIZE

_SETTING: Final = "<--base FOLDER or base=FOLDER> (the current folder of aeon)"


def check_files(config: LoaderConfig, findings: Findings, options: CheckOptions, /) -> None:
    """Add a finding for each file that aeon cannot find or cannot decode.

    `options.base` is the current folder of aeon, from which aeon resolves relative paths. Raises
    LimitError. Raises ImportError if pictures must be decoded and OpenCV is not installed.
    """
    files = _Files(config, findings, options)
    files.check_noise()
    path = files.found(str(config["manifest_filename"]), "manifest_filename")
    if path is None:
        return
    try:
        manifest = _manifest(path, config, findings, options)
    except FormatError as error:
        findings.add(error.finding)
        return
    root = files.root()
    check_named(manifest, findings, path, root)
    _check_columns(manifest, config, findings, options.name)
    of_manifest = replace(options, name=path, base=os.fsdecode(root.path))
    columns = [
        Column(etl, number, options.name, manifest, of_manifest, findings)
        for number, etl in enumerate(config.etl[: len(manifest.types)])
    ]
    for column in columns:
        check(column)
    check_equal_sizes(columns)
    if options.decode:
        check_decoding(config, columns, options)
    files.check_cache(manifest)


def _check_columns(manifest: Manifest, config: LoaderConfig, findings: Findings, name: str) -> None:
    """Add a finding unless the manifest has exactly one column for each etl object.

    name: the manifest's name.
    """
    place, columns, etl = Place(name, field="etl"), len(manifest.types), len(config.etl)
    if etl > columns:
        words = {"etl": counted(etl, "etl object"), "columns": counted(columns, "column")}
        findings.add(finding_at("aeon-too-few-columns", place, **words))
    elif etl < columns:
        words = {"columns": counted(columns - etl, "column"), "etl": f"{etl}"}
        findings.add(finding_at("aeon-columns-unused", place, **words))


def _manifest(
    path: str, config: LoaderConfig, findings: Findings, options: CheckOptions
) -> Manifest:
    """Read the manifest at a path in the same way as the configuration's version of aeon."""
    with open_regular(path, options.access.roots) as file:
        source = Source(path, file.read())
    dialect = "seed" if config.dialect == "seed" else None
    found = Findings()
    manifest = parse(source, limits=options.limits, findings=found, dialect=dialect)
    if not len(manifest):
        message, hint = "the manifest has no records", "aeon's loader rejects it"
        raise FormatError(message, place=Place(path), hint=hint, code="aeon-no-records")
    findings.add_all(found)
    return manifest


class _Files:
    """Finds the files that a configuration names, and adds a finding for each missing file."""

    def __init__(self, config: LoaderConfig, findings: Findings, options: CheckOptions) -> None:
        self.config = config
        self.findings = findings
        self.name = options.name
        self.base = Folder(os.fsencode(options.base), options.access, _SETTING)

    def root(self) -> Folder:
        """Return the folder from which aeon resolves the relative paths of the manifest."""
        base, root = self.base, os.fsencode(str(self.config["manifest_root"]))
        if not root:
            return Folder(base.path, base.access)
        return Folder(joined(base.path, root), base.access, "manifest_root")

    def path(self, value: str) -> str:
        """Return the path that aeon opens for `value`, a path in the configuration."""
        return os.fsdecode(path_of(joined(self.base.path, os.fsencode(value))))

    def found(self, value: str, field: str, more: str = "") -> str | None:
        """Return the path that aeon opens for `value`, a path in the configuration.

        If the file cannot be read, add a finding and return None. field: the member of the
        configuration that has the path. more: text that is added to the reason in the finding.
        """
        path, place = self.path(value), Place(self.name, field=field)
        try:
            check_regular_file(path, self.base.access.roots)
        except OutsideError:
            self.findings.add(manifest_finding("aeon-file-outside", place, path=safe(path)))
            return None
        except OSError as error:
            hint = self.base.hint_if_missing(os.fsencode(value), source=self.name) or ""
            self.report(path, field, f"{error.strerror or error}{more}", hint)
            return None
        return path

    def report(self, path: str, field: str, why: str, hint: str = "") -> None:
        """Add a finding about a file that aeon cannot read.

        path: of the file. field: the member of the configuration that names the file. why: the
        reason.
        """
        words = {"where": field, "path": safe(path), "why": safe(why), "hint": hint}
        self.findings.add(finding_at("aeon-config-file", Place(self.name, field=field), **words))

    def is_readable(self, value: str) -> bool:
        """Return whether aeon can read the file `value`, a path in the configuration, and the file
        is inside the roots.
        """
        with suppress(OSError):
            check_regular_file(self.path(value), self.base.access.roots)
            return True
        return False

    def check_noise(self) -> None:
        """Check the files that list noises, and the noise files that they list."""
        for number, each in enumerate(self.config.etl):
            value = each["noise_index_file"] if each.type == "audio" else ""
            field = f"etl[{number}].noise_index_file"
            if not value or (path := self.found(str(value), field)) is None:
                continue
            with open_regular(path, self.base.access.roots) as file:
                lines = file.read().split()
            if not lines:
                self.report(path, field, "it lists no files")
            root = os.fsencode(str(each["noise_root"]))
            noises = (os.fsdecode(joined(root, line)) for line in lines)
            failing = [noise for noise in noises if not self.is_readable(noise)]
            if failing:
                others = counted(len(failing) - 1, "other file")
                more = f"; {others} of this list cannot be read, either" if len(failing) > 1 else ""
                self.found(failing[0], field, more)

    def check_cache(self, manifest: Manifest) -> None:
        """Check that the cache directory is a folder, and that aeon can write a complete cache."""
        config, value = self.config, str(self.config["cache_directory"])
        if not value:
            return
        path = self.path(value)
        if not is_folder(path):
            place, words = Place(self.name, field="cache_directory"), {"path": safe(path)}
            self.findings.add(finding_at("aeon-cache-directory", place, **words))
        size = BLOCK_SIZE if config.dialect == "seed" else config.block_size
        with suppress(ValueError):  # a finding about the configuration has the reason
            Plan.of(manifest, block_size=size, findings=self.findings)
