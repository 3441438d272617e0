"""Advice about objects of Construct that the engine cannot run: what to write instead."""

from types import MappingProxyType
from typing import Final

import construct as cs

_WHOLE: Final = "write the whole number, and take the bits from its column"
_INSIDE: Final = "write the construct inside, and change its column"
_BEFORE: Final = "write If or Switch, with a field before it that decides"
_BYTES: Final = "write Bytes, and change the column"

ADVICE: Final = MappingProxyType(
    {
        "BytesInteger": "write a number of 1, 2, 4 or 8 bytes, or Bytes(n)",
        "VarInt": "write a number of fixed size",
        "ZigZag": "write a number of fixed size",
        "BitsInteger": _WHOLE,
        "Transformed": _WHOLE,
        "Restreamed": _WHOLE,
        "Sequence": "write a Struct, with a name for each member",
        "FocusedSeq": "write a Struct, with a name for each member",
        "Select": _BEFORE,
        "Union": _BEFORE,
        "Peek": _BEFORE,
        "StopIf": "write If around the fields that follow",
        "Pointer": "read the bytes from that offset on with a layout of their own",
        "Seek": "write Padding, or read the bytes from that offset on with a layout of their own",
        "Tell": "leave it out",
        "OffsettedEnd": "write Bytes with its size",
        "Terminated": "leave it out, and compare `Columns.end` with the size of the data",
        "RawCopy": "write the construct inside",
        "Checksum": "write Bytes, and compare the column",
        "Compressed": _BYTES,
        "CompressedLZ4": _BYTES,
        "EncryptedSym": _BYTES,
        "EncryptedSymAead": _BYTES,
        "ProcessXor": _BYTES,
        "ProcessRotateLeft": _BYTES,
        "Pickled": _BYTES,
        "Numpy": "write an Array",
        "NullTerminated": "write CString, or NullTerminated(GreedyBytes) with the default options",
        "NullStripped": "write FixedSized(n, NullStripped(GreedyBytes))",
        "FixedSized": "write Bytes, or FixedSized of GreedyBytes",
        "Prefixed": "write Prefixed of GreedyBytes or GreedyString",
        "Lazy": "write the construct inside",
        "LazyArray": "write Array",
        "LazyStruct": "write Struct",
        "LazyBound": "write the construct inside; a layout cannot contain itself",
        "Rebuffered": "write the construct inside",
        "Index": "leave it out; the rows of a table are in the order of the file",
        "Error": "leave it out, or write Check",
        "Slicing": _INSIDE,
        "Indexing": _INSIDE,
    }
)
"""What to write instead of each class of Construct."""

LAMBDA_ADVICE: Final = "write the expression with `this`; it can have + - * // % & | == < and so on"


def advice_for(con: cs.Construct) -> str:
    """Return a text that says what to write instead of `con`. Return "" if there is no advice."""
    name = type(con).__name__
    if name in ADVICE:
        return ADVICE[name]
    return _INSIDE if isinstance(con, cs.Adapter) else ""
