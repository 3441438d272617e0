"""A right reader of aeon's cache blocks, which shares nothing with exset's, and can have faults."""

import struct

Plain = dict[str, object]
TRAILERS = (b"cpiotlr", b"cpiotrl")


class Damaged(Exception):
    """The file is not valid."""


class RightBlock:
    """Reads a block: call it with the bytes; it returns None to refuse them."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes) -> Plain | None:
        try:
            return self.block(data)
        except Damaged:
            return None

    def block(self, data: bytes) -> Plain:
        if "end-anywhere" in self.faults:
            data = data[: data.find(b"TRAILER!!!") + 12]
        name, head, at = self.entry(data, 0)
        if len(head) != 64 and "header-any-size" not in self.faults:
            raise Damaged
        if head[:4] != b"MACR" and "no-macr" not in self.faults:
            raise Damaged
        count, other = struct.unpack("<II", head[20:28].ljust(8, b"\0"))
        if count > len(data) // 28:
            raise Damaged
        entries: list[tuple[bytes, bytes]] = []
        while True:
            try:
                name, element, after = self.entry(data, at)
            except Damaged:
                is_end = entries and entries[-1][0] in TRAILERS
                if not is_end or "needs-end" in self.faults:
                    raise
                break
            if name == b"TRAILER!!!":
                break
            entries.append((name, element))
            at = after
        trailers = TRAILERS[:1] if "one-trailer" in self.faults else TRAILERS
        if entries and entries[-1][0] in trailers and len(entries[-1][1]) == 16:
            entries.pop()
        elements = [self.element(each) for _, each in entries]
        if "no-empty" in self.faults:
            elements = [each for each in elements if each]
        found = other if "other-count" in self.faults else count
        return {"record_count": found, "elements": elements}

    def entry(self, data: bytes, at: int) -> tuple[bytes, bytes, int]:
        if len(data) < at + 26:
            raise Damaged
        words = struct.unpack_from("<13H", data, at)
        if words[0] != 0o070707 and ("first-magic-only" not in self.faults or at == 0):
            raise Damaged
        if words[3] != 0o100644 and "mode-checked" in self.faults:
            raise Damaged
        size = words[12] + (0 if "low-size" in self.faults else words[11] << 16)
        begin = at + 26
        start = begin + words[10] + (words[10] % 2 if "name-unpadded" not in self.faults else 0)
        end = start + size
        after = end + (size % 2 if "data-unpadded" not in self.faults else 0)
        if not words[10] or after > len(data):
            raise Damaged
        return data[begin : begin + words[10] - 1], data[start:end], after

    def element(self, data: bytes) -> bytes:
        if "zeros-cut" in self.faults:
            data = data.rstrip(b"\0")
        if "line-ends" in self.faults:
            data = data.replace(b"\r\n", b"\n")
        return data
