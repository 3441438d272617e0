"""Make sparse arrays of an example set: compressed rows, with one row for each event."""

from dataclasses import dataclass
from typing import NoReturn

from exset.core.callers import public
from exset.core.errors import Findings, collect_findings, warn
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import Floats, Longs
from exset.grammars.lens.examples import ExampleSet
from exset.runtime.arrays import Device, on_device, to_device
from exset.runtime.lens.fill import filling_of
from exset.runtime.lens.layout_inference import layouts_of
from exset.runtime.lens.network_layout import SIDES, Layout, LayoutLike
from exset.runtime.lens.runs import Columns


@dataclass(frozen=True, eq=False, repr=False)
class Csr:
    """The inputs or the targets of a set as compressed sparse rows, for `scipy.sparse.csr_array`.

    Event i has the values `data[indptr[i]:indptr[i + 1]]`, float32, at the units
    `indices[indptr[i]:indptr[i + 1]]`, int64, ascending. Zeros in ranges are included. All other
    units have the value `default[i]`, float32.
    """

    data: Floats
    indices: Longs
    indptr: Longs
    default: Floats
    layout: Layout

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of events and units."""
        return self.default.size, self.layout.units

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        """Raise TypeError, because the object contains several arrays."""
        how = "scipy.sparse.csr_array((csr.data, csr.indices, csr.indptr), csr.shape)"
        raise TypeError(f"Csr is not a dense array: use to_arrays, or {how}")

    def __repr__(self) -> str:
        return f"Csr({self.data.size} of {self.shape[0]} x {self.shape[1]})"


@public
def to_csr(
    examples: ExampleSet,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
    *,
    device: Device = "cpu",
    strict: bool = False,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> tuple[Csr, Csr]:
    """Return the inputs and the targets of all events as sparse rows, without the default values.

    Arguments and errors are the same as for `to_arrays`.
    """
    found = collect_findings(strict, findings)
    layouts = layouts_of(examples, (inputs, targets), found)
    with on_device(device) as xp:
        columns = Columns.of(xp, examples)
        both = []
        for side, layout in zip(SIDES, layouts, strict=True):
            filling = filling_of(xp, examples, columns, side, layout, found, limits.max_expand)
            default = to_device(xp, examples.effective(f"default_{side[:-1]}")).copy()
            cells, values = filling.resolve_overlaps(xp)
            begins = xp.arange(default.size + 1) * layout.units
            indptr = xp.searchsorted(cells, begins).astype(xp.int64)
            both.append(Csr(values, cells % max(layout.units, 1), indptr, default, layout))
    if findings is None:
        warn(found)
    return both[0], both[1]
