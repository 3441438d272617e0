"""Loader configurations for tests, and what is found in them."""

from typing import Any

from exset import Finding, Findings, FormatError, LoaderConfig

BASE: dict[str, Any] = {"manifest_filename": "a.tsv", "batch_size": 2, "etl": []}
IMAGE = {"type": "image", "height": 4, "width": 6}
AUDIO = {
    "type": "audio",
    "max_duration": "1 seconds",
    "frame_stride": "10 milliseconds",
    "frame_length": "25 milliseconds",
}


def config(*etl: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {**BASE, "etl": list(etl), **members}


def found(given: dict[str, Any], dialect: str | None = "head") -> list[Finding]:
    """All that is found in a configuration, what makes it unreadable last."""
    findings = Findings()
    try:
        LoaderConfig.from_dict(given, dialect=dialect, findings=findings)
    except FormatError as error:
        return [*findings, error.finding]
    return list(findings)


def codes(given: dict[str, Any], dialect: str | None = "head") -> list[str]:
    return [finding.code for finding in found(given, dialect)]
