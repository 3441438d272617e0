"""The records of a loader configuration as a dataset: decoded and augmented, by index."""

from collections.abc import Iterable
from operator import index

from numpy.typing import ArrayLike

from exset.core.errors import Findings
from exset.core.limits import DEFAULT, Limits
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.columns.arrays import chosen_rows
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.aeon.provision.opening import Options, open_loader
from exset.runtime.aeon.provision.provider import Request, Requests
from exset.runtime.training.dataset import Dataset, Values, checked_names


class LoaderDataset(Dataset):
    """The records that a loader configuration selects. A sampler may choose any order of them.

    Members of the configuration about order and batches have no effect. Random changes depend only
    on the seed of the configuration, the epoch (`set_epoch`) and the record.
    """

    name = "loader configuration"

    def __init__(
        self,
        config: LoaderConfig,
        *,
        fields: Iterable[str] | None = None,
        threads: int | None = None,
        scaled_decoding: bool = False,
        base: str = "",
        access: Access = DEFAULT_ACCESS,
        findings: Findings | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        """Make a dataset of a configuration. fields: the names of the arrays of a batch, by default
        all.

        The other arguments are the same as for `DataLoader`. Raises the errors of `DataLoader`, and
        ValueError for unknown fields.
        """
        findings = Findings() if findings is None else findings
        options = Options(None, None, threads, False, base, access, limits, scaled_decoding)
        self._opened = open_loader(config, options, findings)
        names = [output.name for output in self._opened.provider.outputs]
        self._fields = tuple(names) if fields is None else checked_names("fields", fields, names)
        self.epoch = 0

    def __repr__(self) -> str:
        types = " ".join(each.type for each in self._opened.config.etl)
        return f"LoaderDataset({len(self)} records: {types})"

    def __len__(self) -> int:
        return len(self._opened.provider.records)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in order."""
        return self._fields

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, from 0, on which the random changes of records depend."""
        self.epoch = index(epoch)

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of the records with these indices.

        Raises FormatError for a bad record, and the other errors of `Dataset.batch`.
        """
        provider = self._opened.provider
        rows = chosen_rows(indices, len(self))
        arrays = provider.arrays(rows.size)

        def request(at: int) -> Request:
            return self._opened.request(int(rows[at]), self.epoch)

        errors = provider.provide(Requests(rows, request), arrays)
        if errors:
            raise errors[min(errors)]
        return {name: arrays[name] for name in self._fields}
