"""Write a run of checks as SARIF 2.1.0, which code hosts show next to the files."""

import json
import os
from urllib.parse import quote

from exset.reports.rows import Row, Run


def report(run: Run) -> str:
    """Return as SARIF the rows whose checks found something wrong."""
    bad = [row for row in run.rows if row.is_bad]
    rules = {row.rule: row for row in bad}
    numbers = {rule: index for index, rule in enumerate(rules)}
    driver = {
        "name": "exset",
        "semanticVersion": run.version,
        "rules": [
            {"id": rule, "shortDescription": {"text": row.about or rule}}
            for rule, row in rules.items()
        ],
    }
    results = [_result(row, numbers[row.rule]) for row in bad]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _result(row: Row, number: int) -> dict[str, object]:
    found: dict[str, object] = {
        "ruleId": row.rule,
        "ruleIndex": number,
        "level": row.severity,
        "message": {"text": row.message or row.about or row.name},
    }
    if row.fingerprint:
        found["partialFingerprints"] = {"exset/v1": row.fingerprint}
    if row.path:
        place: dict[str, object] = {"artifactLocation": {"uri": quote(os.fsencode(row.path))}}
        region = {"startLine": row.line, "startColumn": row.column, "byteOffset": row.byte}
        if given := {name: value for name, value in region.items() if value is not None}:
            place["region"] = given
        found["locations"] = [{"physicalLocation": place}]
    return found
