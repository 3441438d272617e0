"""Read and write cases in a folder: exported cases, which may be edited, and random cases.

`keep` writes the random cases. The layout is that of the export: `FORMAT/VERDICT/NAME.FORMAT`, with
the meaning in another file next to it. Only the case's file itself is needed. `index.json` may add
details of a case, such as its rule.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from exset.io import files
from exset.testing.conformance import meanings
from exset.testing.conformance.cases import VERDICTS, Case, Severity, Verdict, formats
from exset.testing.conformance.export import INDEX, index, row
from exset.testing.conformance.nodes import BadMeaning, Node


def cases_in(folder: str, format: str | None = None) -> tuple[Case, ...]:
    """Return the cases in a folder, or only those of a format, sorted by verdict and name.

    Raises ValueError for a folder without such cases, and for errors in the index or in a meaning.
    Raises OSError if a file cannot be read.
    """
    if format is not None:
        meanings.family_of(format)
    index = _index(folder)
    found = []
    for each in formats() if format is None else [format]:
        for verdict in VERDICTS:
            place = os.path.join(folder, each, verdict)
            names = sorted(os.listdir(place)) if os.path.isdir(place) else ()
            found += [
                _case(folder, each, verdict, name.removesuffix(f".{each}"), index)
                for name in names
                if name.endswith(f".{each}")
            ]
    if not found:
        example = os.path.join(folder, format or "ex", "valid", f"NAME.{format or 'ex'}")
        raise ValueError(f"{folder} has no cases: expected files such as {example}")
    return tuple(found)


def _case(folder: str, format: str, verdict: Verdict, name: str, index: Mapping[str, Node]) -> Case:
    case = Case(name, format, verdict, b"", "a file of the folder", "")
    file, meaning = (Path(folder, each) for each in (case.path, case.meaning_path))
    case = replace(case, data=file.read_bytes())
    if meaning.exists():
        try:
            document = meanings.parsed(meaning.read_bytes(), format)
        except BadMeaning as error:
            raise ValueError(f"{meaning}: {error}") from None
        features = tuple(sorted(meanings.family_of(format).features(document)))
        case = replace(case, meaning=document, features=features)
    return case if case.path not in index else _described(case, index[case.path])


def _described(case: Case, entry: Node) -> Case:
    """Return a case, with the details that its entry of the index adds."""
    severity = entry.get("severity")
    if not severity.missing and severity.value not in get_args(Severity):
        raise severity.error(" or ".join(get_args(Severity)))
    rule, section = entry.get("rule"), entry.get("section")
    return replace(
        case,
        rule=case.rule if rule.missing else rule.text(),
        section=case.section if section.missing else section.text(),
        severity=cast(Severity, severity.value or case.severity),
        features=tuple(sorted({*case.features, *_texts(entry.get("features"))})),
        agree=tuple(_texts(entry.get("agree"))),
        systems=_members(entry.get("systems")),
        options=_members(entry.get("options")),
    )


def _texts(node: Node) -> list[str]:
    return [] if node.missing else [each.text() for each in node.items()]


def _members(node: Node) -> dict[str, str]:
    return {name: each.text() for name, each in node.members().items()}


def _index(folder: str) -> dict[str, Node]:
    """Return the entries of the index, by the path of the case. Return {} if there is no index."""
    path = Path(folder, INDEX)
    if not path.exists():
        return {}
    try:
        document = Node(json.loads(path.read_bytes()), str(path))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected JSON: {error}") from None
    return {each.get("path").text(): each for each in document.get("cases").items()}


def keep(case: Case, folder: str) -> str:
    """Write a random case to a folder as `export` does, and add it to the index; return its path.

    The name of the case comes from its contents, so the same file is kept only once. Raises
    ValueError for an index with errors, and OSError.
    """
    case = replace(case, name=f"drawn-{hashlib.sha256(case.data).hexdigest()[:10]}")
    path = os.path.join(folder, case.path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    files.write(path, case.data)
    if case.meaning is not None:
        target = os.path.join(folder, case.meaning_path)
        files.write(target, meanings.dumped(case.meaning, indent=1))
    rows = {place: cast(dict[str, object], node.value) for place, node in _index(folder).items()}
    files.write(os.path.join(folder, INDEX), index({**rows, case.path: row(case)}.values()))
    return path
