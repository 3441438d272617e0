"""The layout of TFRecord files; the names are from TensorFlow (record_writer.h).

This module imports only Construct and the engine, so that the engine can cache the programs that
it makes from the layout.
"""

import construct as cs
from construct import this

_HIGH = 0x3FFFFFFF  # the highest bits of a length cannot count: its checksum tells

Record = cs.Struct(
    "length" / cs.Int32ul,
    "length_high" / cs.Int32ul,
    "length_crc" / cs.Int32ul,
    "data" / cs.Bytes(this.length + (this.length_high & _HIGH) * 2**32),
    "data_crc" / cs.Int32ul,
)

# To read all complete records of a file.
File = cs.Struct("records" / cs.GreedyRange(Record))

# To write records, and to read them with Construct itself: their number comes first.
Records = cs.Struct("count" / cs.Int64ub, "records" / cs.Array(this.count, Record))
