"""Convert between families: a model becomes a table, or a table a model of another family."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from exset import formats
from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level, Model
from exset.core.text import with_article
from exset.families.bridging import FromTable, TableLayoutOf, TablesOf, ToTable
from exset.families.family import Family, load
from exset.families.format import Format
from exset.families.tables import TABLE

if TYPE_CHECKING:
    from exset.grammars.tables.table import Table

FAMILIES: Final = {"lens": "lens", "lbann": "lbann-list", "aeon": "aeon-manifest"}
"""The families that a table can name, each with the name of the record that has `from_table`."""

NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


def to_table(
    model: Model,
    *,
    level: Level = "meant",
    findings: Findings,
    limits: Limits = DEFAULT,
    **options: object,
) -> "Table":
    """Return the table of a model. Return a table unchanged.

    Raises FormatError if the model cannot become a table, and TypeError if the argument is not a
    model.
    """
    if level not in ("said", "meant"):
        raise ValueError(f"unknown level {level!r}: choose 'said' or 'meant'")
    family = formats.family_of(model)
    if family == TABLE:
        return cast("Table", model)
    if family.to_table is None:
        raise no_table(family)
    make = cast(ToTable, load(family.to_table))
    return make(model, level=level, findings=findings, limits=limits, **options)


def from_table(
    table: "Table",
    *,
    family: str | None = None,
    findings: Findings,
    limits: Limits = DEFAULT,
    lossy: bool = False,
    **options: object,
) -> Model:
    """Make a model from a table.

    `family`: the family of the model, by default the family that the table came from.
    """
    name = family if family is not None else str(table.metadata.get("family", ""))
    records = {each.name: each for each in formats.families() if each.from_table is not None}
    record = records.get(FAMILIES.get(name, name))
    if record is None:
        there = ", ".join(FAMILIES)
        if family is None:
            message = "the table does not say to which family of formats it belongs"
            hint = f"name the family: family=NAME, one of {there}"
            raise FormatError(message, place=Place("table"), hint=hint, code="table-family")
        raise ValueError(f"unknown family {family!r}: choose one of {there}")
    return _made(record, table, findings=findings, limits=limits, lossy=lossy, **options)


def can_convert(family: Family, target: Format) -> bool:
    """Return whether a format can store models of a family, directly or as a table."""
    if target.can_write(family):
        return True
    makes_table = family == TABLE or family.to_table is not None
    takes_table = target.can_write(TABLE) or made_of_tables(target) is not None
    return makes_table and takes_table and family != target.family


def made_of_tables(target: Format) -> Family | None:
    """Return the family of the models that exset makes from tables, to write a format.

    It is the format's own family, or another family that the format's writer accepts. For example,
    the writer of cache blocks accepts manifests. Return None if exset cannot write tables in this
    format.
    """
    families = (target.family, *target.takes)
    return next((each for each in families if each.from_table is not None), None)


def targets_of(family: Family) -> tuple[Format, ...]:
    """Return the formats that can store models of a family, its own formats first."""
    direct = formats.writers_of(family)
    others = (fmt for fmt in formats.all_formats() if fmt not in direct)
    return (*direct, *(fmt for fmt in others if can_convert(family, fmt)))


def level_for(family: Family, target: Format, level: Level | None) -> Level | None:
    """Return the level of the table to write for a model. Return None if the model needs no table.

    The default level is "said" if the format can store it, else "meant"; see `exset.to_table`.
    """
    if target.can_write(family) or family == TABLE:
        return None
    if level is not None:
        return level
    return "said" if target.can_write(TABLE) and target.is_nested else "meant"


def converted(
    model: Model,
    target: Format,
    *,
    level: Level | None,
    findings: Findings,
    limits: Limits = DEFAULT,
    lossy: bool = False,
    making: Mapping[str, object] = NO_OPTIONS,
    taking: Mapping[str, object] = NO_OPTIONS,
) -> Model:
    """Return what a format can write: the model, its table, or a model made from its table.

    `making`: the options of the family's function `to_table`. `taking`: the options of the function
    `from_table` of the target's family. An object that is not a model is returned unchanged: the
    writer then raises the error. Raises FormatError if the target's family cannot store the table.
    """
    family = next((each for each in formats.families() if isinstance(model, each.model)), None)
    if family is None or not can_convert(family, target) or target.can_write(family):
        return model
    chosen = level_for(family, target, level) or "meant"
    table = to_table(model, level=chosen, findings=findings, limits=limits, **making)
    if target.can_write(TABLE):
        return table
    record = cast(Family, made_of_tables(target))
    return _made(record, table, findings=findings, limits=limits, lossy=lossy, **taking)


def layout_of(
    family: Family,
    chunks: Iterable[Model],
    *,
    level: Level,
    findings: Findings,
    limits: Limits = DEFAULT,
    **options: object,
) -> object:
    """Find the table's columns for a model that comes in chunks; `tables_of` needs the result.

    Raises FormatError where `to_table` would.
    """
    if family.table_layout is None:
        raise no_table(family)
    find = cast(TableLayoutOf, load(family.table_layout))
    return find(chunks, level=level, findings=findings, limits=limits, **options)


def tables_of(
    family: Family,
    chunks: Iterable[Model],
    layout: object,
    *,
    findings: Findings,
    limits: Limits = DEFAULT,
) -> "Iterator[Table]":
    """Yield a table for each chunk of a model. Joined, they are the table of the model.

    `layout`: the result of `layout_of` for the same chunks. Only one chunk is in memory.
    """
    if family.table_chunks is None:
        raise no_table(family)
    make = cast(TablesOf, load(family.table_chunks))
    return make(chunks, layout, findings=findings, limits=limits)


def no_table(family: Family) -> FormatError:
    """Return the error for a model that has no table."""
    message = f"{with_article(family.noun)} cannot become a table"
    return FormatError(message, place=Place(family.noun), code="format")


def _made(record: Family, table: "Table", **options: Any) -> Model:
    make = cast(FromTable, load(cast(str, record.from_table)))
    return cast("Callable[..., Model]", make)(table, **options)
