"""The binary engine: run a Construct declaration on the bytes of a file, and return columns.

    layout = Layout(Struct("n" / Int32ub, "x" / Array(this.n, Float32b)))
    fields = read(layout, source)            # {"n": array([3]), "x": array([1., 2., 3.])}
    write(layout, fields) == source.data

Two drivers give the same columns, bytes and errors: Construct itself (the reference), and an
interpreter. The engine converts the layout to a program, which the interpreter runs. The engine
knows no file format.
"""

from exset.codecs.engine.chunked import Chunk, ChunkedLayout, ChunkReader
from exset.codecs.engine.fields import Fields, Values
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.reader import read
from exset.codecs.engine.writer import write

__all__ = ["Chunk", "ChunkReader", "ChunkedLayout", "Fields", "Layout", "Values", "read", "write"]
