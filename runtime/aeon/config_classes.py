"""Compare the classes in a column's elements with class_names in the configuration."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from exset.core.suggestions import did_you_mean
from exset.grammars.aeon.config.findings import finding_at
from exset.runtime.aeon.config_column import Column

_SHOWN: Final = 5


def check_classes(column: Column, used: Mapping[str, Sequence[int]]) -> None:
    """Add findings for classes that class_names does not list, and for names that no element uses.

    used: for each class in the elements, the records with this class.
    """
    names = column.etl["class_names"]
    listed = names if isinstance(names, tuple) else ()
    known = dict.fromkeys(each for each in listed if isinstance(each, str))
    for name, records in used.items():
        if name not in known:
            hint = did_you_mean(name, known) or "add it to class_names"
            column.report("aeon-class-unknown", records[0], name=name, hint=hint)
            column.failed.update(records)
    unused = [name for name in known if name not in used]
    if unused and used:
        shown = ", ".join(map(repr, islice(unused, _SHOWN)))
        more = f" and {len(unused) - _SHOWN:,} more" if len(unused) > _SHOWN else ""
        place, words = column.of_config("class_names"), {"title": column.title}
        words |= {"names": shown + more, "noun": "class" if len(unused) == 1 else "classes"}
        column.findings.add(finding_at("aeon-class-unused", place, **words))
