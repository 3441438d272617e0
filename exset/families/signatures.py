"""Regular expressions for the first bytes of files, for the signatures of several families."""

import re


def any_of(*words: str) -> str:
    """Return a pattern for any of the words, and for a word that the end of the data cuts."""
    cut = {word[:size] for word in words for size in range(len(word))}
    whole, parts = (
        "|".join(map(re.escape, sorted(each, key=len, reverse=True))) for each in (words, cut)
    )
    return rf"(?:{whole}|(?:{parts})\Z)"
