"""The binary engine: runs a Construct declaration over the bytes of a file, and gives columns.

    layout = Layout(Struct("n" / Int32ub, "x" / Array(this.n, Float32b)))
    fields = read(layout, source)            # {"n": array([3]), "x": array([1., 2., 3.])}
    write(layout, fields) == source.data

Two drivers give the same columns, bytes and errors: Construct itself, the reference, and a kernel
that runs the layout lowered to a table of instructions. It knows no format.
"""

from exset.codecs.engine.chunked import Part, Parted, Parts, Shifted
from exset.codecs.engine.drivers import read, write
from exset.codecs.engine.fields import Fields, Values
from exset.codecs.engine.layout import Layout

__all__ = [
    "Fields",
    "Layout",
    "Part",
    "Parted",
    "Parts",
    "Shifted",
    "Values",
    "read",
    "write",
]
