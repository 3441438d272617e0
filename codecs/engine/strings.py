"""The one primitive that Construct lacks: raw bytes up to a NUL, read in linear time."""

from typing import IO

from construct import Construct, Container, StreamError, StringError

_FIRST, _MOST = 64, 1 << 16


class NulString(Construct):  # type: ignore[misc]
    """Bytes up to a NUL and the NUL, which is not part of the value: `bytes`.

    Construct's own NullTerminated compares byte by byte and is quadratic. Raises StreamError where
    the data end without a NUL, StringError for a value with a NUL in it.
    """

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> bytes:
        parts, size = [], _FIRST
        while chunk := stream.read(size):
            end = chunk.find(0)
            if end >= 0:
                stream.seek(end + 1 - len(chunk), 1)
                parts.append(chunk[:end])
                return b"".join(parts)
            parts.append(chunk)
            size = min(2 * size, _MOST)
        raise StreamError("the data end before the NUL of a string", path=path)

    def _build(self, obj: bytes, stream: IO[bytes], context: Container, path: str) -> bytes:
        if 0 in obj:
            raise StringError("a NUL in a string", path=path)
        stream.write(obj + b"\0")
        return obj
