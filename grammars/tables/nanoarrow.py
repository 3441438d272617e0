"""The library nanoarrow, imported when used: Arrow's data in memory."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanoarrow.c_array_stream import CArrayStream
    from nanoarrow.c_schema import CSchema, CSchemaView


def nanoarrow() -> ModuleType:
    """Return the module nanoarrow. Raises ImportError, which names the extra to install, without
    it.
    """
    try:
        return import_module("nanoarrow")
    except ImportError:
        raise ImportError("Arrow data needs nanoarrow: pip install 'exset[arrow]'") from None


def stream_class() -> "type[CArrayStream]":
    """Return nanoarrow's class of Arrow streams."""
    nanoarrow()
    from nanoarrow.c_array_stream import CArrayStream as Stream

    found: type[CArrayStream] = Stream
    return found


def view_of(schema: "CSchema") -> "CSchemaView":
    """Return nanoarrow's view of a schema: an object whose attributes describe the schema's type.

    For example, `fixed_size` is the size of a type of fixed size.
    """
    from nanoarrow.c_schema import CSchemaView

    return CSchemaView(schema)
