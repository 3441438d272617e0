"""Write a run of checks as one JSON object, with a row for each check."""

import json

from exset.reports.rows import Run, Status

SCHEMA = 1
"""The version of the JSON object; it changes if a member is removed or changes its meaning."""


def report(run: Run) -> str:
    """Return a run as JSON."""
    rows = [
        {
            "name": row.name,
            "status": row.status,
            "rule": row.rule,
            "about": row.about,
            "groups": list(row.groups),
            "severity": row.severity,
            "messages": list(row.messages),
            "path": row.path or None,
            "line": row.line,
            "column": row.column,
            "byte": row.byte,
            "seconds": round(row.seconds, 6),
        }
        for row in run.rows
    ]
    head = {"schema": SCHEMA, "title": run.title, "version": run.version, "summary": run.summary}
    statuses: tuple[Status, ...] = ("passed", "failed", "error", "skipped")
    counts = {status: run.count(status) for status in statuses}
    return json.dumps({**head, "counts": counts, "rows": rows}, indent=1, allow_nan=False) + "\n"
