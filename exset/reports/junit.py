"""Write a run of checks as JUnit XML, which CI systems show as tests."""

import re
from xml.etree import ElementTree

from exset.reports.rows import Run

_INVALID = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report(run: Run) -> str:
    """Return a run as JUnit XML, with a test case for each row.

    Source: the schema junit-10.xsd of the xUnit plugin of Jenkins.
    """
    counts = {
        "tests": len(run.rows),
        "failures": run.count("failed"),
        "errors": run.count("error"),
        "skipped": run.count("skipped"),
        "time": f"{sum(row.seconds for row in run.rows):.3f}",
    }
    attributes = {name: str(value) for name, value in counts.items()}
    suites = ElementTree.Element("testsuites", {"name": run.title})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": run.title, **attributes})
    for row in run.rows:
        group = next(iter(row.groups), run.title)
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {"name": row.name, "classname": _text(group), "time": f"{row.seconds:.3f}"},
        )
        if row.status != "passed":
            tag = {"failed": "failure", "error": "error", "skipped": "skipped"}[row.status]
            first = row.message.partition("\n")[0]
            child = ElementTree.SubElement(case, tag, {"message": _text(first)})
            child.text = _text("\n".join(filter(None, [row.about, *row.messages]))) or None
        elif row.messages:
            ElementTree.SubElement(case, "system-out").text = _text("\n".join(row.messages))
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _text(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return _INVALID.sub("\ufffd", text)
