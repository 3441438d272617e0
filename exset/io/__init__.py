"""Input and output: open files, decompression, atomic writing, remote files, extraction."""
