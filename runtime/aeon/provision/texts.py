"""The etl types of text: `char_map`, the codes of characters, and `label_map`, those of words.

Rules T2 and T3; source: etl_char_map.cpp and etl_label_map.cpp of aeon.
"""

from collections.abc import Sequence

from exset.core.errors import FormatError
from exset.core.suggestions import did_you_mean
from exset.core.text import invalid_utf8, safe
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.record import Record

_SLOTS = 4
"""The room for labels that aeon allocates, whatever `max_classes` is."""


class CharMap(Etl):
    """The characters of a text as their places in an alphabet, whatever their case.

    An unknown character gives `unknown_value` or, if that is 0, nothing. Both outputs count only
    the first `max_length` characters; the length includes characters that give nothing.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Take an etl object."""
        super().__init__(settings, number, context)
        self._codes: dict[str, int] = {}
        for code, character in enumerate(str(settings["alphabet"])):
            self._codes.setdefault(_upper(character), code)
        self._unknown = settings.number("unknown_value") or None
        self._most = settings.number("max_length")

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the codes up to the first NUL, and their number. FormatError unless UTF-8."""
        text = element.partition(b"\0")[0]
        if (at := invalid_utf8(text)) is not None:
            raise FormatError(f"byte {at} of it is not UTF-8")
        characters = text.decode()[: self._most]
        codes = [self._codes.get(_upper(each), self._unknown) for each in characters]
        found = [code for code in codes if code is not None]
        slots[0][0, : len(found)] = found
        for length in slots[1:]:
            length[0] = len(characters)


class LabelMap(Etl):
    """The words of a text as their places in `class_names`; words after `max_classes` are dropped.

    aeon has room for four labels. By default there is room for `max_classes`.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Take an etl object. FormatError for sizes at which aeon writes into other memory."""
        super().__init__(settings, number, context)
        names = settings["class_names"]
        self._codes: dict[bytes, int] = {}
        for code, name in enumerate(names if isinstance(names, tuple) else ()):
            self._codes.setdefault(str(name).encode("utf-8", "surrogateescape"), code)
        self._most = settings.number("max_classes")
        most = _SLOTS if context.compat else None
        if self._most < 1 or (most is not None and self._most > most):
            limits = f"from 1 to {most}: aeon has room for four" if most else "1 or more"
            message = f"etl[{number}].max_classes is {self._most}, but must be {limits}"
            raise FormatError(message, code="aeon-later")

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the labels. FormatError for a word that `class_names` lacks, where aeon crashes."""
        for at, word in enumerate(element.split()[: self._most]):
            if word not in self._codes:
                name = word.decode("utf-8", "replace")
                known = (each.decode("utf-8", "replace") for each in self._codes)
                hint = did_you_mean(name, known) or "add it to class_names"
                raise FormatError(f"the class {safe(name)!r} is not in class_names", hint=hint)
            slots[0][at] = self._codes[word]


def _upper(character: str) -> str:
    """Return an upper-case character as C's towupper does: always a single one."""
    upper = character.upper()
    return upper if len(upper) == 1 else character
