"""Files in and out: opening, decompression, atomic writing, remote files, extraction."""
