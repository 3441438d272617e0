"""Draw files of a layout, half of them damaged, and compare exset with Construct on them."""

import random
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import construct as cs
import numpy as np

from exset import FormatError
from exset.codecs.custom.columns import Columns
from exset.codecs.custom.layout import Layout
from exset.codecs.custom.reference import evaluated
from exset.codecs.engine import ir
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers

_MOST = 5
"""Elements of an array without a count, and numbers that may be counts."""


class Drawing:
    """Draws files of a layout by a walk through its nodes."""

    def __init__(self, layout: Layout, seed: int) -> None:
        self.layout = layout
        self.random = random.Random(seed)
        self._latest: dict[str, Any] = {}

    def files(self, count: int) -> Iterator[bytes]:
        """Yield files; each second one is damaged."""
        for number in range(count):
            data = self._bytes(self.layout.shape.tree.root)
            yield self._damaged(data) if number % 2 else data

    def _damaged(self, data: bytes) -> bytes:
        draw, changed = self.random, bytearray(data or b"\0")
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(changed) + 1)
            if draw.random() < 0.4:
                del changed[at : at + draw.randint(1, 9)]
            elif draw.random() < 0.5:
                changed[at:at] = draw.randbytes(draw.randint(1, 4))
            else:
                changed[at : at + 1] = draw.choice((b"\0", b"\xff", draw.randbytes(1)))
            changed = changed or bytearray(1)
        return bytes(changed)

    def _bytes(self, node: ir.Node) -> bytes:
        draw = self.random
        match node:
            case ir.Record():
                return b"".join(self._bytes(member) for _, member in node.members)
            case ir.Number():
                return self._number(node)
            case ir.String():
                return self._text(node.path, draw.randint(0, 6)).replace(b"\0", b"x") + b"\0"
            case ir.Blob():
                size = draw.randint(0, 9) if node.count is None else self._count(node.count)
                return self._text(node.path, size)
            case ir.Gap():
                return draw.randbytes(self._count(node.count))
            case ir.Constant():
                return bytes(node.construct.build(None))
            case ir.Rows():
                some = draw.randint(0, _MOST) if node.count is None else self._count(node.count)
                return b"".join(self._bytes(node.element) for _ in range(some))
            case ir.Repeat():
                data = self._bytes(node.element)
                while not evaluated(node.condition, self._latest):
                    data += self._bytes(node.element)
                return data
            case ir.Branch():
                is_taken = evaluated(node.condition, self._latest)
                return self._bytes(node.then if is_taken else node.otherwise)
            case ir.Alignment():
                data = self._bytes(node.inner)
                return data + bytes(-len(data) % node.modulus)
            case _:
                return b""

    def _count(self, count: ir.Expression) -> int:
        if isinstance(count, int):
            return count
        return min(max(int(evaluated(count, self._latest)), 0), 1 << 7)

    def _number(self, node: ir.Number) -> bytes:
        draw, labels = self.random, [*self.layout.labels.get(node.path, ())]
        if node.is_real:
            value = draw.choice((0.0, -1.5, 1e30, np.nan, np.inf))
        else:
            wide = draw.randrange(1 << 8 * node.stored.itemsize)
            small = draw.randint(0, _MOST)
            chosen = draw.choice((small, small, small, draw.choice(labels or [2]), 60))
            rate = 0.05 if node.path in self._counts else 0.5
            value = wide if draw.random() < rate else chosen
            raw = (value % (1 << 8 * node.stored.itemsize)).to_bytes(node.stored.itemsize, "big")
            value = np.frombuffer(raw, node.stored.newbyteorder(">"))[0].item()
        self._latest[node.path] = value
        return np.array(value, node.stored).tobytes()

    @cached_property
    def _counts(self) -> set[str]:
        used = ir.expressions_in(self.layout.shape.tree.root)
        return {number.path for each in used for number in ir.fields_in(each)}

    def _text(self, path: str, size: int) -> bytes:
        encoding = self.layout.shape.tree.encodings.get(path)
        if encoding is None or not encoding.name:
            return self.random.randbytes(size)
        text = "".join(self.random.choice("ab z\0") for _ in range(size))
        if "16" not in encoding.name:
            return text.encode(encoding.name)[:size]
        return text.encode(encoding.name)[:size] if self.random.random() < 0.9 else bytes(size)


def compare(declaration: cs.Construct, layout: Layout, data: bytes) -> bool:
    """Compare exset with Construct; return whether they accept the file. Raises AssertionError."""
    if isinstance(declaration, cs.Compiled):  # as compiled, it accepts bytes that are cut off
        declaration = declaration.defersubcon
    try:
        declaration.parse(data)
    except Exception as error:  # a layout may raise whatever its functions raise
        for engine in ("reference", "auto"):
            try:
                layout.read(data, engine=engine)
            except FormatError:
                continue
            raise AssertionError(f"{engine} accepts {data!r}; Construct: {error}") from error
        return False
    expected, found = layout.read(data, engine="reference"), layout.read(data)
    assert found.end == expected.end, data
    for name in expected:
        assert table_rows(expected, name) == table_rows(found, name), (name, data)
        assert expected.starts(name).tolist() == found.starts(name).tolist(), (name, data)
    is_stopped = [each.stopped is not None for each in (expected, found)]
    assert is_stopped[0] == is_stopped[1], data
    return True


def table_rows(columns: Columns, name: str) -> list[dict[str, object]]:
    """Return the rows of a table as plain values."""
    return [{key: plain(value) for key, value in row.items()} for row in columns[name]]


def plain(value: object) -> object:
    """Return a value that can be compared; NaN equals itself."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Numbers | Strings | Lists):
        return [plain(each) for each in value]
    return value
