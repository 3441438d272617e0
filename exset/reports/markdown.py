"""Write a run of checks as Markdown: a badge, a row for each group, and a row for each failure."""

from urllib.parse import quote

from exset.reports.rows import Row, Run


def report(run: Run) -> str:
    """Return a run as Markdown."""
    lines = [f"# {_cell(run.title)}", "", badge(run), "", f"{run.summary}.", ""]
    lines += ["| feature | passed | failed | skipped |", "|---|---|---|---|"]
    for group, rows in run.by_group.items():
        counts = [_count(rows, False), sum(row.is_bad for row in rows), _count(rows, True)]
        mark = "" if counts[1] else " ✓"
        lines.append(f"| {_cell(group)}{mark} | {' | '.join(map(str, counts))} |")
    if bad := [row for row in run.rows if row.is_bad]:
        lines += ["", "| case | rule | what is wrong |", "|---|---|---|"]
        lines += [f"| {_cell(r.name)} | {_cell(r.about)} | {_cell(r.message)} |" for r in bad]
    return "\n".join([*lines, ""])


def badge(run: Run) -> str:
    """Return a Markdown badge with the percentage of the checks that passed."""
    count = run.count("passed") + run.count("failed", "error")
    percent = 100 * run.count("passed") // count if count else 0
    colour = "brightgreen" if percent == 100 else "yellow" if percent >= 90 else "red"
    text = f"{percent}%"
    url = f"https://img.shields.io/badge/exset_conformance-{quote(text)}-{colour}"
    return f"![exset conformance {text}]({url})"


def _count(rows: list[Row], skipped: bool) -> int:
    return sum(row.status == ("skipped" if skipped else "passed") for row in rows)


def _cell(text: str) -> str:
    """Return a text with escapes, for a cell of a table."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`").split())
