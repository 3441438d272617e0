"""The fuzzer's file of counts: how many cases of each target all runs together have tried."""

import json
from collections.abc import Mapping
from pathlib import Path

from exset.core.process_pool import uninterrupted
from exset.io import files


def read_counts(path: Path) -> dict[str, dict[str, int]]:
    """Return the counts of all runs so far, by target. Return {} if there is no file."""
    found: dict[str, dict[str, int]] = json.loads(path.read_text()) if path.exists() else {}
    return found


class CountsFile:
    """A file of counts, to which a run adds its own counts, as often as it likes.

    Each write adds only the cases since the last write. So several runs of different targets can
    use the same file, and a run that is killed loses only its last cases.
    """

    def __init__(self, path: Path) -> None:
        """Use the file `path`, which need not exist."""
        self._path = path
        self._added: dict[str, dict[str, int]] = {}

    def add(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Add the counts of this run so far, by target, to the file. The write is atomic.

        Raises OSError if the file cannot be written; the old file then stays.
        """
        found = read_counts(self._path)
        for name, new in counts.items():
            old, added = found.get(name, {}), self._added.get(name, {})
            found[name] = {key: old.get(key, 0) + new[key] - added.get(key, 0) for key in new}
        rows = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
        with uninterrupted():  # or else an interrupt between the two lines would add them twice
            files.write(str(self._path), ("{\n" + ",\n".join(rows) + "\n}\n").encode())
            self._added = {name: dict(new) for name, new in counts.items()}
