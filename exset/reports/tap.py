"""Write a run of checks in the Test Anything Protocol (TAP), version 14."""

import json

from exset.reports.rows import Run


def report(run: Run) -> str:
    """Return a run as TAP, with a test point for each row."""
    lines = ["TAP version 14", f"1..{len(run.rows)}"]
    for number, row in enumerate(run.rows, 1):
        word = "not ok" if row.is_bad else "ok"
        name = row.name.replace("\\", "\\\\").replace("#", "\\#")
        skip = " # SKIP" if row.status == "skipped" else ""
        lines.append(f"{word} {number} - {name}{skip}")
        if row.is_bad:
            lines += ["  ---", f"  rule: {json.dumps(row.about)}", f"  severity: {row.severity}"]
            lines += [
                "  messages:",
                *(f"    - {json.dumps(each)}" for each in row.messages),
                "  ...",
            ]
    return "\n".join([*lines, f"# {run.summary}", ""])
