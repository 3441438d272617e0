"""Counts, sizes and nouns as text for people."""

import math


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 event`, `2,000 events`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """Return a number of bytes as text: `12 bytes`, `3.4 MB`."""
    if count < 1000:
        return counted(count, "byte")
    power = min(int(math.log10(count)) // 3, 4)
    return f"{count / 1000**power:.1f} {' kMGT'[power]}B"


def with_article(noun: str) -> str:
    """Return a noun with its article: `a manifest`, `an example set`."""
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"
