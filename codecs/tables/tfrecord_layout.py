"""The layout of TFRecord files; the names are from TensorFlow (record_writer.h).

This module imports only Construct and the engine, so that the engine can cache the programs that
it makes from the layout.
"""

import construct as cs
from construct import obj_, this

_HIGH = 0x7FFFFFFF  # the highest bit of a length cannot count: its checksum tells

Record = cs.Struct(
    "length" / cs.Int32ul,
    "length_high" / cs.Int32ul,
    "length_crc" / cs.Int32ul,
    "data" / cs.Bytes(this.length + (this.length_high & _HIGH) * 2**32),
    "data_crc" / cs.Int32ul,
)

# A record whose length and its checksum are 0 cannot be in a file: it is added to mark the end.
File = cs.Struct(
    "records"
    / cs.RepeatUntil(
        (obj_.length == 0) & (obj_.length_high == 0) & (obj_.length_crc == 0),
        Record,
    )
)

# To write records, and to read those before an error: their number comes first.
Records = cs.Struct("count" / cs.Int64ub, "records" / cs.Array(this.count, Record))
