"""Find a suffix for a file name from the first bytes of the file's data."""

from typing import Final

HEAD: Final = 4096
"""How many bytes of data are examined."""

_BEGINS: Final = (
    (b"\xff\xd8\xff", ".jpg"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"GIF87a", ".gif"),
    (b"GIF89a", ".gif"),
    (b"BM", ".bmp"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"fLaC", ".flac"),
    (b"OggS", ".ogg"),
    (b"ID3", ".mp3"),
    (b"\xff\xfb", ".mp3"),
    (b"\x1aE\xdf\xa3", ".mkv"),
    (b"\0\0\1\xba", ".mpg"),
    (b"\0\0\1\xb3", ".mpg"),
    (b"%PDF-", ".pdf"),
    (b"\x89HDF\r\n\x1a\n", ".h5"),
    (b"\x93NUMPY", ".npy"),
    (b"PK\3\4", ".zip"),
    (b"\x1f\x8b\x08", ".gz"),
    (b"\0\0\0\x0cjP  ", ".jp2"),
)
_RIFF: Final = {b"WAVE": ".wav", b"AVI ": ".avi", b"WEBP": ".webp"}


def suffix_of(data: bytes | memoryview) -> str:
    """Return the suffix that fits data, such as `.txt`. Return `.bin` if no suffix is known."""
    head = bytes(data[:HEAD])
    if head[:4] == b"RIFF" and head[8:12] in _RIFF:
        return _RIFF[head[8:12]]
    if head[4:8] == b"ftyp":
        return ".mp4"
    for begin, suffix in _BEGINS:
        if head.startswith(begin) and (begin != b"BM" or len(data) > 26):
            return suffix
    return _text(head)


def _text(head: bytes) -> str:
    """Return `.json` for a JSON object, `.txt` for text, `.bin` for other bytes."""
    if not head or any(byte < 32 and byte not in b"\t\n\r" for byte in head):
        return ".bin"
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < HEAD - 3:  # near the end, a character may be cut
            return ".bin"
    return ".json" if head.lstrip()[:1] == b"{" else ".txt"
