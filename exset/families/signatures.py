"""Regular expressions for the first bytes of files, for the signatures of several families."""

import re


def any_of(*words: str) -> str:
    """Return a pattern for data that begin with one of the words.

    The data may also end within this word.
    """
    cut = {word[:size] for word in words for size in range(len(word))}
    whole, parts = (
        "|".join(map(re.escape, sorted(each, key=len, reverse=True))) for each in (words, cut)
    )
    return rf"(?:{whole}|(?:{parts})\Z)"
