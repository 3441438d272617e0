"""Write the pages of findings and their list: `python -m tests.findings`."""

import re
from collections.abc import Iterator
from pathlib import Path

from exset import formats
from exset.explain import Explanation, codes, explain, texts

LIST = Path(__file__).parent.parent / "docs" / "findings.md"
FOLDER = LIST.with_suffix("")
_ENTRY = re.compile(r"^findings/.*\n", re.M)


def pages() -> dict[str, str]:
    """Return the pages of all explanations in Markdown, by their file names."""
    found = {}
    for name, rules in texts(formats.FORMATS).items():
        sections = [each for each in map(explain, codes()) if each.family == rules.title]
        lines = [line for each in sections for line in markdown(each)]
        page = name.rpartition(":")[2].replace(".findings", ".md")
        assert page not in found, f"two files of findings have the page {page}"
        found[page] = "\n".join([f"# {rules.title}\n", *lines])
    return found


def listed(text: str) -> str:
    """Return the text of the list with an entry for each page, in the order of their titles."""
    by_title = sorted(pages().items(), key=lambda page: page[1].lower())
    entries = "".join(f"findings/{name.removesuffix('.md')}\n" for name, _ in by_title)
    return _ENTRY.sub("", text).replace(":maxdepth: 1\n\n", f":maxdepth: 1\n\n{entries}")


def markdown(explanation: Explanation) -> Iterator[str]:
    """Yield an explanation as a section of a page."""
    says = "".join(f' "{text}"' for text in explanation.says)
    yield f"## {explanation.code}\n"
    yield f"*{explanation.severity.capitalize()}.*{says}\n"
    yield f"{explanation.means}\n"
    yield f"**Why it matters.** {explanation.matters}\n"
    yield f"**How to fix it.** {explanation.fix}\n"


if __name__ == "__main__":
    for name, page in pages().items():
        (FOLDER / name).write_text(page, "utf-8")
    LIST.write_text(listed(LIST.read_text("utf-8")), "utf-8")
