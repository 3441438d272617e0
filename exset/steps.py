"""Give the options of a conversion to its steps: read, make a table, make a model, write."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self, cast

from exset import bridge, formats
from exset.core.callers import OptionError, option_errors
from exset.core.errors import Findings, with_source_name
from exset.core.limits import Limits
from exset.core.protocols import Level, Model, OptionValue
from exset.families.family import load
from exset.families.format import Format
from exset.families.option import Option, chosen, named
from exset.families.tables import TABLE
from exset.io.access import Access
from exset.io.folders import NewFolder

if TYPE_CHECKING:
    from exset.grammars.tables.table import Table

_FLAGS: Final = {"follow_links": "links", "allow_plugins": "plugins"}
"""Options of tables, each with the field of `Access` that it sets."""


@dataclass(frozen=True)
class Steps:
    """The options of each step of a conversion. A step that is not needed has no options."""

    read: dict[str, OptionValue]
    to_table: dict[str, object]
    from_table: dict[str, object]
    write: dict[str, OptionValue]

    @classmethod
    def of(
        cls,
        source: Format,
        target: Format,
        options: Mapping[str, object],
        reading: Mapping[str, OptionValue],
        *,
        is_untrusted: bool = False,
        dry_run: bool = False,
    ) -> Self:
        """Give each option to all steps that have an option of this name.

        `options`: options of all steps. The reader gets only options that the writer does not have.
        `reading`: options of the reader and of tables. `is_untrusted`: whether options that are not
        set get their values for untrusted files; see `Option`. With `dry_run`, folders that options
        name are not written. Raises OptionError for an option that no step has, and for a value
        that an option does not allow.
        """
        is_direct = target.can_write(source.family)
        of_table = () if is_direct else source.family.table_options
        of_model = () if is_direct or target.can_write(TABLE) else _model_options(target)
        every = (*source.read_options, *of_table, *of_model, *target.options)
        if is_untrusted:
            unset = {each.name: each.untrusted for each in every if each.untrusted}
            options = {**unset, **options}
        given = {**options, **reading}
        chosen(given, every, f"the conversion of {source.name} to {target.name}")
        of_reader = {
            name: value for name, value in options.items() if not named(target.options, name)
        }
        model = parsed(of_model, options)
        return cls(
            cast(dict[str, OptionValue], _of(source.read_options, {**of_reader, **reading})),
            _with_access(parsed(of_table, given)),
            _unwritten(of_model, model) if dry_run else model,
            cast(dict[str, OptionValue], _of(target.options, options)),
        )

    def converted(
        self,
        model: Model,
        target: Format,
        name: str,
        *,
        level: Level | None,
        findings: Findings,
        limits: Limits,
    ) -> Model:
        """Return a model that the target can store, as `bridge.converted` does.

        `name`: the name of the source in messages. Raises OptionError for values of options that do
        not fit the model.
        """
        noun = formats.family_of(model).noun
        with with_source_name(name, noun, findings=findings) as named, option_errors():
            return bridge.converted(
                model,
                target,
                level=level,
                findings=named,
                limits=limits,
                lossy=bool(self.write.get("lossy")),
                making=self.to_table,
                taking=self.from_table,
            )


def check(target: Format, options: Mapping[str, object]) -> None:
    """Check options before the source is known. Raise OptionError for one that no format has."""
    of_sources = {option.name for fmt in formats.all_formats() for option in fmt.read_options}
    of_sources |= {option.name for each in formats.families() for option in each.table_options}
    others = {name: value for name, value in options.items() if name not in of_sources}
    declared = (*_model_options(target), *target.options)
    chosen(others, declared, f"the format {target.name!r}")


def table_of(
    model: Model,
    source: Format,
    options: Mapping[str, object],
    *,
    level: Level,
    findings: Findings,
    limits: Limits,
    is_untrusted: bool = False,
) -> "Table":
    """Return the table that a conversion makes of a model.

    `options`: options of `to_table`, as the command line gives them. Raises OptionError for an
    unknown option, and for values that do not fit the model.
    """
    declared = source.family.table_options
    if is_untrusted:
        options = {**{each.name: each.untrusted for each in declared if each.untrusted}, **options}
    chosen(options, declared, f"tables of {source.name}")
    making = _with_access(parsed(declared, options))
    with option_errors():
        return bridge.to_table(model, level=level, findings=findings, limits=limits, **making)


def _model_options(target: Format) -> tuple[Option, ...]:
    """Return the options of the function that makes a model from a table, to write the target."""
    family = bridge.made_of_tables(target)
    return () if family is None else family.model_options


def _of(declared: tuple[Option, ...], given: Mapping[str, object]) -> dict[str, object]:
    """Return those of the given options that are set and declared."""
    unset = (None, False, "")
    return {
        name: value for name, value in given.items() if value not in unset and named(declared, name)
    }


def parsed(declared: tuple[Option, ...], given: Mapping[str, object]) -> dict[str, object]:
    """Return the options of `given` that are set and declared, with texts converted to values."""
    found = _of(declared, given)
    for option in declared:
        text = found.get(option.name)
        if option.parse and isinstance(text, str):
            try:
                found[option.name] = load(option.parse)(text)  # type: ignore[operator]
            except ValueError as error:
                raise OptionError(f"{option.name} {error}") from None
    return found


def _unwritten(declared: tuple[Option, ...], options: dict[str, object]) -> dict[str, object]:
    """Return the options; replace folders to write by `NewFolder`s that only count bytes."""
    folders = {each.name for each in declared if each.is_new_folder}
    return {
        name: NewFolder(str(value), None) if name in folders else value
        for name, value in options.items()
    }


def _with_access(options: dict[str, object]) -> dict[str, object]:
    """Return the options, with those for access to files joined into one option, `access`."""
    flags = {field: bool(options.pop(name, False)) for name, field in _FLAGS.items()}
    locking = False if options.pop("no_locking", False) else None
    root = options.pop("root", "")
    access = Access(roots=(str(root),) if root else (), locking=locking, **flags)
    return {**options, "access": access} if access != Access() else options
