"""Check the files that a loader configuration names: its manifest, the elements, the cache."""

import os
from contextlib import suppress

from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.aeon.config.findings import finding_at
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_findings import finding_at as manifest_finding
from exset.io.access import DEFAULT_ACCESS, Access, check_regular_file, is_folder, is_inside
from exset.parsers.aeon.manifest import parse
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.config_column import Column
from exset.runtime.aeon.config_elements import check
from exset.runtime.aeon.manifest_files import check_files as check_manifest
from exset.runtime.aeon.manifest_files import path_of
from exset.runtime.aeon.selection import BLOCK_SIZE


def check_files(
    config: LoaderConfig,
    findings: Findings,
    *,
    name: str = "loader configuration",
    base: str = "",
    access: Access = DEFAULT_ACCESS,
    jobs: int = 1,
    limits: Limits = DEFAULT,
) -> None:
    """Add a finding for each file that aeon cannot find, or cannot decode.

    name: the configuration in messages. base: the current folder of aeon, to which its paths are
    relative. access: its roots are the folders that must contain all files. jobs: not used. Raises
    LimitError.
    """
    files = _Files(config, findings, name, base, access)
    files.check_noise()
    path = files.found(str(config["manifest_filename"]), "manifest_filename")
    if path is None:
        return
    try:
        manifest = _manifest(path, config, findings, limits)
    except FormatError as error:
        findings.add(error.finding)
        return
    root = str(config["manifest_root"])
    root = os.fsdecode(joined(os.fsencode(base), os.fsencode(root))) if root else base
    check_manifest(manifest, findings, name=path, base=root, access=access)
    columns, etl = len(manifest.types), config.etl
    if len(etl) > columns:
        words = {"etl": counted(len(etl), "etl object"), "columns": counted(columns, "column")}
        findings.add(finding_at("aeon-too-few-columns", Place(name, field="etl"), **words))
    elif len(etl) < columns:
        words = {"columns": counted(columns - len(etl), "column"), "etl": f"{len(etl)}"}
        findings.add(finding_at("aeon-columns-unused", Place(name, field="etl"), **words))
    for number, each in enumerate(etl[:columns]):
        shared = manifest, path, root, access, limits, findings
        check(Column(each, number, name, *shared))
    files.check_cache(manifest)


def _manifest(path: str, config: LoaderConfig, findings: Findings, limits: Limits) -> Manifest:
    """Read the manifest like the version of aeon that reads the configuration."""
    with open(path, "rb") as file:
        source = Source(path, file.read())
    dialect = "seed" if config.dialect == "seed" else None
    found = Findings()
    manifest = parse(source, limits=limits, findings=found, dialect=dialect)
    if not len(manifest):
        message, hint = "the manifest has no records", "aeon's loader rejects it"
        raise FormatError(message, place=Place(path), hint=hint, code="aeon-no-records")
    findings.add_all(found)
    return manifest


class _Files:
    """Finds the files of a configuration, and reports files that aeon cannot find."""

    def __init__(
        self, config: LoaderConfig, findings: Findings, name: str, base: str, access: Access
    ) -> None:
        self.config = config
        self.findings = findings
        self.name = name
        self.base = os.fsencode(base)
        self.access = access

    def found(self, value: str, field: str) -> str | None:
        """Return the path of a file as aeon finds it, or report why it cannot be read."""
        path = os.fsdecode(path_of(joined(self.base, os.fsencode(value))))
        place = Place(self.name, field=field)
        if not is_inside(path, self.access.roots):
            self.findings.add(manifest_finding("aeon-file-outside", place, path=safe(path)))
            return None
        try:
            check_regular_file(path)
        except OSError as error:
            words = {"where": field, "path": safe(path), "why": safe(error.strerror or str(error))}
            self.findings.add(finding_at("aeon-config-file", place, **words))
            return None
        return path

    def check_noise(self) -> None:
        """Check the lists of noises, and the files in them."""
        for number, each in enumerate(self.config.etl):
            value = each["noise_index_file"] if each.type == "audio" else ""
            field = f"etl[{number}].noise_index_file"
            if not value or (path := self.found(str(value), field)) is None:
                continue
            with open(path, "rb") as file:
                lines = file.read().split()
            if not lines:
                words = {"where": field, "path": safe(path), "why": "it lists no files"}
                place = Place(self.name, field=field)
                self.findings.add(finding_at("aeon-config-file", place, **words))
            for line in lines:
                noise = joined(os.fsencode(str(each["noise_root"])), line)
                self.found(os.fsdecode(noise), field)

    def check_cache(self, manifest: Manifest) -> None:
        """Check that aeon can make its cache, and complete it."""
        config, value = self.config, str(self.config["cache_directory"])
        if not value:
            return
        path = os.fsdecode(path_of(joined(self.base, os.fsencode(value))))
        if not is_folder(path):
            place, words = Place(self.name, field="cache_directory"), {"path": safe(path)}
            self.findings.add(finding_at("aeon-cache-directory", place, **words))
        size = BLOCK_SIZE if config.dialect == "seed" else config.block_size
        with suppress(ValueError):  # a finding about the configuration has the reason
            Plan.of(manifest, block_size=size, findings=self.findings)
