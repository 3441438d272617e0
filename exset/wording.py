"""How counts are put into words, wherever people read them."""


def counted(count: int, noun: str) -> str:
    """So many in words: `1 event`, `2,000 events`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
