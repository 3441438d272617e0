"""Loader configurations for tests, and their findings."""

from typing import Any

from exset import Finding, Findings, FormatError, LoaderConfig

BASE: dict[str, Any] = {"manifest_filename": "a.tsv", "batch_size": 2, "etl": []}
IMAGE = {"type": "image", "height": 4, "width": 6}
VIDEO = {"type": "video", "max_frame_count": 2, "frame": {"height": 3, "width": 3}}
CHAR_MAP = {"type": "char_map", "max_length": 3, "alphabet": "ABC"}
LABEL_MAP = {"type": "label_map", "class_names": ["a"]}
AUDIO = {
    "type": "audio",
    "max_duration": "1 seconds",
    "frame_stride": "10 milliseconds",
    "frame_length": "25 milliseconds",
}


def config(*etl: Any, **members: Any) -> dict[str, Any]:
    return {**BASE, "etl": list(etl), **members}


def augmented(*augmentation: Any, etl: dict[str, Any] = IMAGE) -> dict[str, Any]:
    return config(etl, augmentation=list(augmentation))


def findings_of(given: dict[str, Any], dialect: str | None = "head") -> list[Finding]:
    """Return all findings of a configuration, the errors last."""
    findings = Findings()
    try:
        LoaderConfig.from_dict(given, dialect=dialect, findings=findings)
    except FormatError as error:
        return [*findings, *error.findings]
    return list(findings)


def codes(given: dict[str, Any], dialect: str | None = "head") -> list[str]:
    return [finding.code for finding in findings_of(given, dialect)]


def places(given: dict[str, Any], dialect: str | None = "head") -> list[tuple[str, str | None]]:
    """Return the code and the path of each finding."""
    found = findings_of(given, dialect)
    return [(each.code, each.place.field if each.place else None) for each in found]
