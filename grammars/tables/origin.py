"""The metadata that says from which model a table was made."""

from typing import Any, Final

from exset.core.protocols import Level

VERSION: Final = 1


def origin(family: str, level: Level) -> dict[str, Any]:
    """Return the first entries of the metadata of a table that was made from another model.

    family: the name of the model's family. level: the option with which the table was made.
    """
    return {"family": family, "version": VERSION, "level": level}
