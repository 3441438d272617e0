"""aeon's loader configurations: what a file or a dict of Python says, with the defaults.

`LoaderConfig.from_dict` takes what Python programs gave to aeon; `exset.parsers.aeon.config`
reads JSON. Both hold a configuration against the tables in `exset.grammars.aeon.config.schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exset.core.errors import Findings, warn
from exset.core.limits import DEFAULT, Limits
from exset.grammars.aeon.config.findings import Places
from exset.grammars.aeon.config.numbers import wrapped
from exset.grammars.aeon.config.outputs import Output, outputs_of
from exset.grammars.aeon.config.schema_types import Dialect, dialect_of
from exset.grammars.aeon.config.settings import Settings, Value
from exset.grammars.aeon.config.settings_reader import read
from exset.grammars.aeon.config.translation import translated
from exset.grammars.columns.html import table
from exset.grammars.columns.tree import node


@dataclass(frozen=True, repr=False)
class LoaderConfig:
    """A configuration of aeon's loader, for one version of aeon; its length is that of `etl`."""

    settings: Settings
    """The loader's own members, `etl` and `augmentation` among them."""

    @classmethod
    def from_dict(
        cls,
        config: Mapping[str, object],
        *,
        dialect: Dialect | str | None = None,
        name: str = "<dict>",
        limits: Limits = DEFAULT,
        findings: Findings | None = None,
    ) -> LoaderConfig:
        """Check a configuration as Python programs write it, of dicts, lists and tuples.

        `dialect`, `findings` and errors as in `exset.parsers.aeon.config.parse`; their places
        name members. Without `findings` one FormatWarning tells of them. Raises FormatError for
        what no aeon takes.
        """
        heard = Findings() if findings is None else findings
        tree = node(config, depth=limits.max_depth)
        made = cls(read(tree, Places(name), dialect=dialect, findings=heard))
        if findings is None:
            warn(heard, 3)
        return made

    @property
    def dialect(self) -> Dialect:
        """The version of aeon whose defaults and outputs these are."""
        return self.settings.dialect

    def __getitem__(self, name: str) -> Value:
        """Return the value of a member of the loader, given or by default."""
        return self.settings[name]

    def __len__(self) -> int:
        return len(self.etl)

    def __repr__(self) -> str:
        types = " ".join(str(each.type) for each in self.etl) or "no etl"
        return f"LoaderConfig({types}, batch_size {self.batch_size}, {self.dialect})"

    def _repr_html_(self) -> str:
        rows = (
            (each.type, ", ".join(f"{name}: {value!r}" for name, value in each.to_dict().items()))
            for each in self.etl
        )
        title = f"LoaderConfig({self.dialect}, {len(self)} columns)"
        return table(title, ("type", "given"), rows, len(self))

    @property
    def etl(self) -> tuple[Settings, ...]:
        """What each column of the manifest is."""
        return self.settings.objects("etl")

    @property
    def augmentation(self) -> tuple[Settings, ...]:
        """What happens to images at random; the first alone has an effect."""
        return self.settings.objects("augmentation")

    @property
    def manifest_filename(self) -> str:
        """The path of the manifest."""
        return str(self["manifest_filename"])

    @property
    def manifest_root(self) -> str:
        """What goes before relative paths in the manifest."""
        return str(self["manifest_root"])

    @property
    def cache_directory(self) -> str:
        """Where cpio blocks are kept; empty for no cache."""
        return str(self["cache_directory"])

    @property
    def batch_size(self) -> int:
        """Records of a batch; aeon takes any number."""
        return self.settings.number("batch_size")

    @property
    def block_size(self) -> int:
        """Records of a block: where 0 is given, twice the batch size."""
        given = self.settings.number("block_size")
        return given or wrapped(2 * self.batch_size, 32, signed=True)

    @property
    def subset_fraction(self) -> float:
        """The part of the records to use."""
        return self.settings.real("subset_fraction")

    @property
    def random_seed(self) -> int:
        """Where random numbers begin."""
        return self.settings.number("random_seed")

    @property
    def iteration_mode(self) -> str:
        """`ONCE`, `COUNT` or `INFINITE`."""
        return str(self["iteration_mode"])

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The arrays of a batch, each without the batch's own axis, in aeon's order."""
        return outputs_of(self.dialect, self.etl)

    def to_dict(self) -> dict[str, object]:
        """Return what is given as Python writes it: a dict that `from_dict` takes."""
        return self.settings.to_dict()

    def upgraded(self, *, lossy: bool = False, findings: Findings | None = None) -> LoaderConfig:
        """Return the configuration for aeon's last version; as `translated`."""
        return self.translated("head", lossy=lossy, findings=findings)

    def translated(
        self, dialect: Dialect | str, *, lossy: bool = False, findings: Findings | None = None
    ) -> LoaderConfig:
        """Return the configuration for another version of aeon; `findings` says what changes.

        Raises FormatError for what that version cannot do; `lossy` leaves out members that it does
        not know, each with a finding. FormatError for no dialect.
        """
        heard = Findings() if findings is None else findings
        return LoaderConfig(translated(self.settings, dialect_of(dialect), lossy, heard))
