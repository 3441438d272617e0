"""Lens example files, binary (.bex): decoding and encoding."""
