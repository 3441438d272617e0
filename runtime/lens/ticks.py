"""How many ticks an event lasts, as Lens counts them: until its time is reached, at least one.

After tick k the time is k / ticks + a little, in single precision, and the event is over when that
is not less than its time (Lens, train.c: standardNetRunExample). For times that are whole ticks
that is round(time * ticks).
"""

from types import ModuleType

from exset.grammars.columns.arrays import Floats, Longs

_LITTLE = 1e-6
"""What is allowed for rounding."""


def ticks_until(xp: ModuleType, time: Floats, ticks: int) -> Longs:
    """The first tick, from 1, after which a time is reached; times are finite: int64 [m]."""
    wanted = xp.maximum(xp.ceil(time.astype(xp.float64) * ticks), 1).astype(xp.int64)
    before = (wanted - 1).astype(xp.float32) / xp.float32(ticks) + xp.float32(_LITTLE)
    reached = xp.where((before >= time) & (wanted > 1), wanted - 1, wanted)
    counted: Longs = reached
    return counted
