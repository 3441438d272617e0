"""Write the pages of `docs/findings`: `python -m tests.findings`."""

from pathlib import Path

from exset.explain import pages

FOLDER = Path(__file__).parent.parent / "docs" / "findings"

if __name__ == "__main__":
    for name, page in pages().items():
        (FOLDER / name).write_text(page, "utf-8")
