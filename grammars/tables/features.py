"""The types of columns as the library `datasets` stores them: the key `huggingface` in Arrow's
metadata.

`datasets` reads the names of classes and the types of fields from this key. Source: `datasets`
5.2, `features.Features.from_arrow_schema`, which uses a feature only if its Arrow type is exactly
the type of the field; classes are int64.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text
from exset.grammars.tables.table import Table

KEY: Final = b"huggingface"
"""The key of the features in the metadata of a schema."""

CLASSES: Final = "classes"
"""The member of a table's metadata with the names of classes by column."""


def classes_of(table: Table) -> dict[str, list[str]]:
    """Return the class names of each column that contains class numbers, by the column's name."""
    found = table.metadata.get(CLASSES)
    named = found.items() if isinstance(found, dict) else ()
    return {
        name: names
        for name, names in named
        if isinstance(names, list)
        and all(isinstance(each, str) for each in names)
        and _are_classes(table.columns.get(name), len(names))
    }


def features_of(
    columns: Mapping[str, TableColumn], classes: Mapping[str, list[str]], media: Mapping[str, str]
) -> bytes:
    """Return the value of the key `huggingface` for these columns, as JSON.

    In `columns`, each column of media is a struct. classes: the result of `classes_of`. media: the
    result of `media_of`.
    """
    features = {
        name: {"names": classes[name], "_type": "ClassLabel"}
        if name in classes
        else {"_type": media[name]}
        if name in media
        else _feature(column)
        for name, column in columns.items()
    }
    return json.dumps({"info": {"features": features}}, separators=(",", ":")).encode()


def stored_classes(metadata: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """Return the class names of each column, by the column's name, from the metadata of an
    Arrow schema; {} if it has none.
    """
    named = {
        name: each.get("names")
        for name, each in stored_features(metadata).items()
        if each.get("_type") == "ClassLabel"
    }
    return {
        name: names
        for name, names in named.items()
        if isinstance(names, list) and all(isinstance(each, str) for each in names)
    }


def stored_arrays(metadata: Mapping[bytes, bytes]) -> dict[str, str]:
    """Return the type of each column of arrays, by name: `float32[2, 3]` for an `Array2D`."""
    return {
        name: f"{each.get('dtype')}{each['shape']}"
        for name, each in stored_features(metadata).items()
        if each.get("_type") in ("Array2D", "Array3D", "Array4D", "Array5D")
        if isinstance(each.get("shape"), list)
    }


def stored_features(metadata: Mapping[bytes, bytes]) -> dict[str, dict[str, Any]]:
    """Return the feature of each column, by name; {} if the metadata have none."""
    try:
        features = json.loads(metadata.get(KEY, b"{}"))["info"]["features"].items()
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}
    return {name: each for name, each in features if isinstance(each, dict)}


def _are_classes(column: TableColumn | None, count: int) -> bool:
    """Return whether a column has class numbers: whole numbers from 0 to `count` - 1, or -1
    for no class.
    """
    if not isinstance(column, Numbers) or column.shape or column.values.dtype.kind not in "iu":
        return False
    values = column.values
    return not values.size or (int(values.min()) >= -1 and int(values.max()) < count)


def _feature(column: TableColumn) -> dict[str, Any]:
    if isinstance(column, Records):
        return {name: _feature(field) for name, field in column.fields.items()}
    if isinstance(column, Lists):
        return {"feature": _feature(column.items), "length": -1, "_type": "List"}
    if isinstance(column, Numbers):
        feature: dict[str, Any] = {"dtype": _dtype(column.values.dtype), "_type": "Value"}
        for size in reversed(column.shape):
            feature = {"feature": feature, "length": size, "_type": "List"}
        return feature
    return {"dtype": "string" if isinstance(column, Text) else "binary", "_type": "Value"}


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "M" and np.datetime_data(dtype)[0] == "D":
        return "date32"
    if dtype.kind in "mM":
        return f"{'timestamp' if dtype.kind == 'M' else 'duration'}[{np.datetime_data(dtype)[0]}]"
    return dtype.name
