"""The etl types of text: `char_map` gives codes of characters, and `label_map` codes of words.

Source: etl_char_map.cpp and etl_label_map.cpp of aeon.
"""

from collections.abc import Sequence

from exset.core.errors import FormatError
from exset.core.suggestions import did_you_mean
from exset.core.text import invalid_utf8, safe
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.record import Record

_SLOTS = 4
"""The number of labels for which aeon allocates memory, whatever `max_classes` is."""


class CharMap(Etl):
    """Converts the characters of a text to their positions in an alphabet, regardless of case.

    An unknown character becomes `unknown_value`; if this value is 0, the character is left out.
    Both outputs, the codes and the length, are of the first `max_length` characters only. The
    length also counts characters that are left out.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Make the decoder for the etl object `etl[number]`, whose members are `settings`."""
        super().__init__(settings, number, context)
        self._codes: dict[str, int] = {}
        for code, character in enumerate(str(settings["alphabet"])):
            self._codes.setdefault(_upper(character), code)
        self._unknown = settings.number("unknown_value") or None
        self._most = settings.number("max_length")

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the codes of the characters in the text `element` into the first slot.

        If there is a second slot, write the number of characters into it. The text ends at its
        first NUL. Raises FormatError for text that is not UTF-8.
        """
        text = element.partition(b"\0")[0]
        if (at := invalid_utf8(text)) is not None:
            raise FormatError(f"byte {at} is not UTF-8")
        characters = text.decode()[: self._most]
        codes = [self._codes.get(_upper(each), self._unknown) for each in characters]
        found = [code for code in codes if code is not None]
        slots[0][0, : len(found)] = found
        for length in slots[1:]:
            length[0] = len(characters)


class LabelMap(Etl):
    """Converts the first `max_classes` words of a text to their positions in `class_names`.

    aeon has memory for only four labels, whatever `max_classes` is. Without `compat`, exset has
    memory for `max_classes`.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Make the decoder for the etl object `etl[number]`, whose members are `settings`.

        Raises FormatError for values of `max_classes` at which aeon writes into other memory.
        """
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
        """Write the positions in `class_names` of the words of the text `element` into the first
        slot.

        Raises FormatError for a word that is not in `class_names`, at which aeon crashes.
        """
        for at, word in enumerate(element.split()[: self._most]):
            if word not in self._codes:
                name = word.decode("utf-8", "replace")
                known = (each.decode("utf-8", "replace") for each in self._codes)
                hint = did_you_mean(name, known) or "add it to class_names"
                raise FormatError(f"the class {safe(name)!r} is not in class_names", hint=hint)
            slots[0][at] = self._codes[word]


def _upper(character: str) -> str:
    """Return a character in upper case as C's towupper does, so always a single character."""
    upper = character.upper()
    return upper if len(upper) == 1 else character
