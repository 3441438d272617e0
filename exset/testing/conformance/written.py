"""Make the contents of files from the tables of declared cases.

A table of cases gives the contents of a file as a text or as a TOML table. A text is stored as
UTF-8; in some tables of cases, it describes bytes in the notation of `notation.py`. A TOML table is
`{hex = ...}`, changes to a configuration, a pair of schemas, or a cache block.
"""

import json
from collections.abc import Mapping
from typing import cast

from exset.testing.conformance.cpio_notation import block_of
from exset.testing.conformance.notation import bytes_of


def data_of(written: object, table: Mapping[str, object]) -> bytes:
    """Return the bytes of a case's file. Raises ValueError for an unknown notation."""
    if isinstance(written, str):
        if "names" in table:
            return bytes_of(written, cast(dict[str, str], table["names"]))
        return written.encode("utf-8")
    declared = cast(Mapping[str, object], written)
    if "hex" in declared:
        return bytes.fromhex(str(declared["hex"]))
    if "config" in declared:
        return _config(declared, cast(Mapping[str, object], table["base"]))
    if "experiment" in declared:
        return (json.dumps(declared) + "\n").encode("ascii")
    if "block" in declared:
        return block_of(declared)
    raise ValueError(f"unknown notation {', '.join(declared)}")


def _config(declared: Mapping[str, object], base: Mapping[str, object]) -> bytes:
    """Return the configuration `base`, in which the declared members replace members of `base`.

    `without` lists members to remove. `etl` and `augmentation` are lists in a configuration. A case
    declares the only object of such a list.
    """
    members = {**base, **cast(Mapping[str, object], declared["config"])}
    for name in ("etl", "augmentation"):
        if name in declared:
            members[name] = [declared[name]]
    dropped = cast(list[str], declared.get("without", []))
    kept = {name: value for name, value in members.items() if name not in dropped}
    return (json.dumps(kept) + "\n").encode("ascii")
