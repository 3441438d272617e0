"""Small files of Lens, and how tests write them."""

from pathlib import Path

from exset import samples

XOR = samples.read("xor.ex").data
WARNING = b"I:1 T:1;\n[max:] I:2 T:0;\n"
BAD = b"I:1 T:1;\nI:2 five;\n"


def write(**files: bytes) -> None:
    """Write files into the current folder; a `_` stands for the dot of a name."""
    for name, data in files.items():
        Path(name.replace("_", ".")).write_bytes(data)
