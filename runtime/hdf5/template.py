"""Read groups with the structure of the first group. This needs far fewer calls of HDF5."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from h5py import h5d, h5g, h5l, h5s, h5t

_WHOLE = (h5d.COMPACT, h5d.CONTIGUOUS)


@dataclass(frozen=True)
class _Field:
    """A field of a sample, with numbers or text.

    group: the index of the group that contains the field. raw: the field's name in this group.
    name: the field's name in the table.
    """

    group: int
    raw: bytes
    name: str
    kind: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    memory: Any
    """The type in memory; None for text."""
    size: int
    """The bytes in the file."""


@dataclass(frozen=True)
class Template:
    """The structure of a sample: its groups, and its fields of numbers and text.

    All data are in the file itself. groups: for each group below the sample, the index of its
    parent group, and its name. counts: the number of objects in the sample, then in each of these
    groups.
    """

    groups: tuple[tuple[int, bytes], ...]
    counts: tuple[int, ...]
    fields: tuple[_Field, ...]

    @classmethod
    def of(cls, group: Any, names: dict[tuple[str, ...], str]) -> "Template | None":
        """Return the template of a group. Return None if a field is neither numbers nor text.

        names: {path of a field: its name}.
        """
        opened: dict[tuple[str, ...], tuple[int, Any]] = {(): (0, group)}
        groups: list[tuple[int, bytes]] = []
        fields = []
        for path, name in names.items():
            for depth in range(1, len(path)):
                if path[:depth] not in opened:
                    above, parent = opened[path[: depth - 1]]
                    raw = path[depth - 1].encode("utf-8", "surrogateescape")
                    groups.append((above, raw))
                    opened[path[:depth]] = len(groups), h5g.open(parent, raw)
            index, parent = opened[path[:-1]]
            raw = path[-1].encode("utf-8", "surrogateescape")
            dataset = h5d.open(parent, raw)
            kind, shape, size = dataset.get_type(), dataset.shape, dataset.get_storage_size()
            dtype = kind.dtype.newbyteorder("=")
            if kind.get_class() == h5t.STRING and kind.is_variable_str() and not shape:
                fields.append(_Field(index, raw, name, kind, dtype, shape, None, size))
            elif kind.get_class() in (h5t.INTEGER, h5t.FLOAT) and kind.get_size() <= 8:
                if size != math.prod(shape) * kind.get_size():
                    return None
                memory = h5t.py_create(dtype)
                fields.append(_Field(index, raw, name, kind, dtype, shape, memory, size))
            else:
                return None
        counts = tuple(each.get_num_objs() for _, each in opened.values())
        return cls(tuple(groups), counts, tuple(fields))

    def values(self, group: Any) -> dict[str, Any] | None:
        """Return {name: array} for the fields of a group, in order. For a field of text, it is a
        dataset.

        Return None if the group has another structure. Only hard links are followed, and only
        datasets with all data in the file are read.
        """
        try:
            return self._values(group)
        except (KeyError, OSError, RuntimeError, ValueError, TypeError):
            return None  # the careful reader says what is wrong

    def _values(self, group: Any) -> dict[str, Any] | None:
        opened = [group]
        for above, raw in self.groups:
            if opened[above].links.get_info(raw).type != h5l.TYPE_HARD:
                return None
            opened.append(h5g.open(opened[above], raw))
        if tuple(each.get_num_objs() for each in opened) != self.counts:
            return None
        found: dict[str, Any] = {}
        for field in self.fields:
            parent = opened[field.group]
            if parent.links.get_info(field.raw).type != h5l.TYPE_HARD:
                return None
            dataset = h5d.open(parent, field.raw)
            made = dataset.get_create_plist()
            if made.get_layout() not in _WHOLE or made.get_external_count():
                return None
            if dataset.get_storage_size() != field.size or dataset.shape != field.shape:
                return None
            if not dataset.get_type().equal(field.kind):
                return None
            if field.memory is None:
                found[field.name] = dataset
                continue
            values = np.empty(field.shape, field.dtype)
            if values.size:
                dataset.read(h5s.ALL, h5s.ALL, values, field.memory)
            found[field.name] = values
        return found
