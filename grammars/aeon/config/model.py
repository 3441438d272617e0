"""The model of aeon's loader configurations: the values in a file or a dict, and the defaults."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import SupportsIndex, overload

from exset.core.callers import public
from exset.core.errors import Findings, warn
from exset.core.html import table
from exset.core.limits import DEFAULT, Limits
from exset.core.text import counted
from exset.grammars.aeon.config.numbers import integer
from exset.grammars.aeon.config.outputs import Output, outputs_of
from exset.grammars.aeon.config.reader import read
from exset.grammars.aeon.config.schema_types import Dialect, dialect_of
from exset.grammars.aeon.config.settings import Settings, Value
from exset.grammars.aeon.config.translation import translated
from exset.grammars.columns.sequence import UnitSequence
from exset.grammars.columns.tree import node


@dataclass(frozen=True, repr=False)
class LoaderConfig(UnitSequence[Settings, tuple[Settings, ...]]):
    """A configuration of aeon's loader for one version of aeon. It is a sequence of its etl
    objects.

    `config["batch_size"]` is the value of a member of the loader. If the member is missing, it is
    the default.
    """

    settings: Settings
    """The members of the loader, also `etl` and `augmentation`."""

    @classmethod
    @public
    def from_dict(
        cls,
        config: Mapping[str, object],
        *,
        dialect: Dialect | str | None = None,
        name: str = "<dict>",
        limits: Limits = DEFAULT,
        findings: Findings | None = None,
    ) -> "LoaderConfig":
        """Read a configuration that a Python program gives to aeon: dicts, lists and tuples.

        `dialect` and `findings` are as in `exset.parsers.aeon.config.parse`. The place of a finding
        is the path of the member. Without `findings`, one FormatWarning reports all findings.
        Raises FormatError if no version of aeon accepts the configuration.
        """
        collected = Findings() if findings is None else findings
        tree = node(config, depth=limits.max_depth)
        made = cls(read(tree, name, dialect=dialect, findings=collected))
        if findings is None:
            warn(collected)
        return made

    @property
    def dialect(self) -> Dialect:
        """The version of aeon for which the configuration is read."""
        return self.settings.dialect

    @overload
    def __getitem__(self, index: SupportsIndex) -> Settings: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Settings, ...]: ...
    @overload
    def __getitem__(self, index: str) -> Value: ...
    def __getitem__(self, index: SupportsIndex | slice | str) -> Value:
        """Return an etl object by its index, or several by a slice. For a name, return the value of
        this member of the loader.

        Raises IndexError for an index out of bounds, KeyError for an unknown member, and TypeError
        for another type of index.
        """
        return self.settings[index] if isinstance(index, str) else super().__getitem__(index)

    def __len__(self) -> int:
        return len(self.etl)

    def __iter__(self) -> Iterator[Settings]:
        return iter(self.etl)

    def _unit(self, row: int) -> Settings:
        return self.etl[row]

    def _some(self, rows: slice) -> tuple[Settings, ...]:
        return self.etl[rows]

    def __repr__(self) -> str:
        types = " ".join(each.type for each in self.etl) or "no etl"
        return f"LoaderConfig({types}, batch_size {self.batch_size}, {self.dialect})"

    def _repr_html_(self) -> str:
        rows = (
            (each.type, ", ".join(f"{name}: {value!r}" for name, value in each.to_dict().items()))
            for each in self.etl
        )
        title = f"LoaderConfig({self.dialect}, {counted(len(self), 'column')})"
        return table(title, ("type", "given"), rows, len(self))

    @property
    def etl(self) -> tuple[Settings, ...]:
        """The etl objects. Each says how aeon decodes a column of the manifest."""
        return self.settings.objects("etl")

    @property
    def augmentation(self) -> tuple[Settings, ...]:
        """The objects that declare random changes of images. aeon uses only the first object."""
        return self.settings.objects("augmentation")

    @property
    def batch_size(self) -> int:
        """The number of records in a batch; aeon accepts any integer."""
        return self.settings.number("batch_size")

    @property
    def block_size(self) -> int:
        """The number of records in a block. If the configuration says 0, it is twice the batch
        size.
        """
        return self.settings.number("block_size") or integer(2 * self.batch_size, "int32")

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The arrays of a batch, in aeon's order. Their shapes are those of one record, without the
        batch axis.
        """
        return outputs_of(self.dialect, self.etl)

    @property
    def meant_outputs(self) -> tuple[Output, ...]:
        """The arrays that `exset.DataLoader` returns by default. aeon returns some of them with
        wrong sizes.
        """
        return outputs_of(self.dialect, self.etl, meant=True)

    def to_dict(self) -> dict[str, object]:
        """Return the given values as a dict for `from_dict`."""
        return self.settings.to_dict()

    def translated(
        self, dialect: Dialect | str, *, lossy: bool = False, findings: Findings | None = None
    ) -> "LoaderConfig":
        """Return the configuration for another version of aeon. findings: collects the changes.

        With `lossy`, drops members that the other version does not know, with a finding for each.
        Raises FormatError for values that the other version cannot store, and ValueError for an
        unknown `dialect`.
        """
        collected = Findings() if findings is None else findings
        return LoaderConfig(translated(self.settings, dialect_of(dialect), lossy, collected))
