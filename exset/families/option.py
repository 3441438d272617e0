"""Options of readers, writers and tables, declared once for Python and for the command line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from exset.core.callers import OptionError
from exset.core.protocols import Model, OptionValue

_NAMES: Final[set[str]] = set()
"""The names of all declared options."""


@dataclass(frozen=True)
class Option:
    """One option of a reader, a writer or a table, for Python and for the command line.

    An option is a flag unless it has `choices`, or a `metavar` that names its value, such as
    `FILE`.

    - `help`: the help text of the command line, an imperative sentence.
    - `default`: says in words what happens without the option.
    - `untrusted`: the option's value if a command line has `--untrusted` and does not set the
      option.
    - `parse`: a function, "module:function", that converts a text to the value.
    - `is_new_folder`: the value is a folder to write, or a `NewFolder`.
    - `attribute`: for tests of round trips, the attribute of a model whose value a reader needs as
      this option. If the attribute is a bool, it is an index of `choices`.
    """

    name: str
    help: str
    choices: tuple[str, ...] = ()
    metavar: str = ""
    default: str = ""
    untrusted: str = ""
    parse: str = ""
    is_new_folder: bool = False
    attribute: str = ""

    def __post_init__(self) -> None:
        """Record that an option has this name: `chosen` ignores unset options with such names."""
        _NAMES.add(self.name)

    @property
    def is_flag(self) -> bool:
        """Whether the option's value is a bool."""
        return not self.choices and not self.metavar

    def value_of(self, model: Model) -> OptionValue:
        """Return the value that a reader needs to read a file of this model; "": the default."""
        value: object = getattr(model, self.attribute) if self.attribute else ""
        return self.choices[value] if isinstance(value, bool) else str(value)


def named(options: Iterable[Option], name: str) -> Option | None:
    """Return the option with the name `name`. Return None if no option has this name."""
    return next((option for option in options if option.name == name), None)


def chosen(
    given: Mapping[str, object], declared: tuple[Option, ...], owner: str
) -> dict[str, object]:
    """Return the options of `given` that are set.

    `owner`: the name of the format or function that has the options, for messages. Raises
    OptionError for a value that is not one of the choices. Also raises OptionError for an option
    that is not declared; but an unset option is no error if another format or function declares it.
    """
    for name, value in given.items():
        option = named(declared, name)
        if option is None:
            if value or name not in _NAMES:
                names = ", ".join(each.name for each in declared)
                known = f"its options are {names}" if names else "no options apply here"
                raise OptionError(f"unknown option {name!r} of {owner}: {known}")
        elif value and option.choices and value not in option.choices:
            choices = ", ".join(option.choices)
            raise OptionError(f"unknown {name} {value!r} of {owner}: choose one of {choices}")
    return {name: value for name, value in given.items() if value}


def listed(text: str) -> list[str]:
    """Return the names in a comma-separated text."""
    return [each.strip() for each in text.split(",")]


def listed_option(name: str, help: str) -> Option:
    """Return an option whose value is a list of names."""
    return Option(name, help, metavar="NAME,...", parse="exset.families.option:listed")


LOSSY: Final = Option("lossy", "Drop what the target format cannot store, and report it.")
"""The option of writers whose formats cannot store every model of their family."""

BASE: Final = Option(
    "base", "Resolve relative paths in the input from this folder.", metavar="FOLDER"
)
ROOT: Final = Option(
    "root",
    "Of the paths in the input, open only those in this folder.",
    metavar="FOLDER",
    default="any folder",
    untrusted=".",
)
"""The options of writers and of tables that read the files of a model."""

CONTENTS: Final = Option(
    "contents", "Also read the files that the input names, and put their bytes into a column."
)
"""The option of functions that make tables of files."""

ACCESS: Final = (
    BASE,
    ROOT,
    Option(
        "follow_links",
        "Follow links in HDF5 files, and read datasets whose data is in other files.",
    ),
    Option("allow_plugins", "Let HDF5 load its plugins to decompress data."),
    Option("no_locking", "Do not lock HDF5 files (for parallel file systems)."),
)
"""The options of functions that read HDF5 files into tables."""
