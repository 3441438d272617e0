"""aeon cache blocks and cpio archives: decoding and encoding."""
