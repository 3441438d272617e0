"""A right reader of Lens texts, which shares nothing with exset's, and can be given faults.

It is as Lens itself: one character after the other, with what Lens remembers while it reads an
example. A fault is a name of `faults.FAULTS`.
"""

import re
from fractions import Fraction
from typing import NoReturn

import numpy as np

from tests.conformance.right_events import Body, Plain

FIELDS = {
    **{"max:": "max_time", "min:": "min_time", "grace:": "grace_time"},
    **{"defI:": "default_input", "actI:": "active_input"},
    **{"defT:": "default_target", "actT:": "active_target"},
}
DEFAULTS = dict(zip(FIELDS.values(), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0), strict=True))
BLANK = " \t\r\n\f\v"
PAIRS = {"{": "}", "(": ")", "[": "]", '"': '"'}
NUMBER = re.compile(r"[0-9]|\.[0-9]|-[0-9]|-\.[0-9]|-(?=[ \t\r\n\f\v;)}]|\Z)")
REAL = re.compile(
    r"[-+]?(0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?[0-9]*)?"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]*)?|nan|inf(?:inity)?)",
    re.IGNORECASE,
)


class Refused(Exception):
    """The file is not valid."""


def single(text: str) -> float:
    """The number of single precision that is nearest to a decimal."""
    text = re.sub(r"[eEpP][-+]?$", "", text) if "x" not in text.lower() else text
    if "x" in text.lower():
        return float(np.float32(float.fromhex(re.sub(r"[pP][-+]?$", "", text))))
    with np.errstate(over="ignore"):
        near = np.float32(float(text))
        if not np.isfinite(near) or near == 0 or len(text) < 9:
            return float(near)
        ends = np.float32(-np.inf), np.float32(np.inf)
        around = [near, *(np.nextafter(near, end) for end in ends)]
    exact = Fraction(text)

    def distance(each: np.float32) -> tuple[Fraction, int]:
        return abs(Fraction(float(each)) - exact), int(each.view(np.uint32)) % 2

    return float(min(filter(np.isfinite, around), key=distance))


class RightReader:
    """Reads a text: call it with the bytes."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes) -> Plain | None:
        """Return the meaning, or None for a file that is not valid."""
        if len(data) < 4:
            return None
        self.text = self.lines(data.decode("latin-1"))
        self.at = 0
        try:
            header = self.header()
            examples = []
            while self.skip() < len(self.text):
                examples.append(self.example(header))
        except Refused:
            return None
        return {"set": header, "examples": examples}

    def has(self, fault: str) -> bool:
        return fault in self.faults

    def lines(self, text: str) -> str:
        ends = r"\r\n|\n" if self.has("no-cr") else r"\r\n|\r|\n"
        parts = re.split(f"({ends})", text)
        kept: list[str] = []
        for line, end in zip(parts[::2], [*parts[1::2], ""], strict=True):
            if self.has("indented-comment"):
                line = re.sub(r"^[ \t]+#.*", "#", line)
            if self.has("trailing-comment"):
                line = re.sub(r"(?<=.)#.*", "", line) if not line.startswith("#") else line
            if not line.startswith("#") or (self.has("comment-in-string") and self.inside(kept)):
                crlf = self.has("crlf-in-string") and end == "\r\n"
                kept.append(line + (("\r\n" if crlf else "\n") if end else ""))
        return "".join(kept)

    def inside(self, kept: list[str]) -> bool:
        """Whether a string is open at the end of some lines."""
        before = "".join(kept)
        return before.count("{") > before.count("}")

    def refuse(self) -> NoReturn:
        raise Refused

    def skip(self) -> int:
        while self.at < len(self.text) and self.text[self.at] in BLANK:
            self.at += 1
        return self.at

    def takes(self, word: str) -> bool:
        self.skip()
        found = self.text[self.at : self.at + len(word)]
        if found != word and not (self.has("any-case") and len(word) > 2 and found.lower() == word):
            return False
        self.at += len(word)
        return True

    def integer(self, sign: str = "[-+]?") -> int | None:
        self.skip()
        if not (found := re.compile(sign + "[0-9]+").match(self.text, self.at)):
            return None
        self.at = found.end()
        return int(found[0])

    def is_number(self) -> bool:
        self.skip()
        if self.has("plus-in-list") and re.match(r"\+[0-9]", self.text[self.at : self.at + 2]):
            return True
        return NUMBER.match(self.text, self.at) is not None

    def real(self) -> float:
        self.skip()
        word = re.compile(r"[^ \t\r\n\f\v,;{}\[\]]*").match(self.text, self.at)
        assert word is not None
        if word[0] == "-":
            self.at += 1
            if self.has("dash-needs-blank") and self.text[self.at : self.at + 1] == ";":
                self.refuse()
            return 0.0 if self.has("dash-is-zero") else float("nan")
        if not word[0]:
            return 0.0 if self.has("missing-is-zero") else float("nan")
        if not (found := REAL.match(self.text, self.at)):
            self.refuse()
        self.at = found.end()
        if self.has("no-open-exponent") and re.search(r"[0-9.]e[-+]?$", found[0].lower()):
            self.refuse()
        if self.has("no-glued-numbers") and self.text[self.at : self.at + 1] in ("-", "."):
            self.refuse()
        value = single(found[0])
        return float(np.float32(f"{value:.6g}")) if self.has("six-digits") else value

    def string(self) -> str:
        self.skip()
        text = self.text
        if text[self.at : self.at + 1] not in PAIRS or self.at >= len(text):
            end = (
                r"[^ \t\r\n\f\v{}()\[\]\";]*"
                if self.has("bare-semicolon")
                else r"[^ \t\r\n\f\v{}()\[\]\"]*"
            )
            found = re.compile(end).match(text, self.at)
            assert found is not None
            self.at = found.end()
            return found[0]
        return self.delimited()

    def raw(self) -> bytes:
        return self.string().encode("latin-1")

    def delimited(self) -> str:
        closers = [PAIRS[self.text[self.at]]]
        self.at += 1
        kept: list[str] = []
        is_protected = False
        while self.at < len(self.text):
            each = self.text[self.at]
            self.at += 1
            if is_protected:
                is_protected = each == "\n"
            elif each == "\\":
                is_protected = True
                if self.has("drops-backslash"):
                    continue
            elif each == closers[-1]:
                closers.pop()
                if not closers or self.has("no-nesting"):
                    value = "".join(kept)
                    return value if self.has("keeps-first-break") else value.lstrip("\n")
            elif each in PAIRS:
                closers.append(PAIRS[each])
            elif each in PAIRS.values():
                self.refuse()
            if len(closers) > 32:
                self.refuse()
            kept.append(each)
        self.refuse()

    def header(self) -> Plain:
        header: Plain = {"proc": None, **DEFAULTS}
        if not self.has("counts-stay") and self.integer() is not None:
            _ = None if self.has("second-count-stays") else self.integer()
        seen: set[str] = set()
        while True:
            if self.takes(";"):
                while self.has("header-eats-semicolons") and self.takes(";"):
                    pass
                return header
            if self.takes("proc:"):
                header["proc"] = self.raw()
            elif (name := self.field()) is not None:
                value = self.real()
                if not (self.has("first-field-wins") and name in seen):
                    header[name] = value
                seen.add(name)
            else:
                return header

    def field(self) -> str | None:
        return next((name for word, name in FIELDS.items() if self.takes(word)), None)

    def example(self, header: Plain) -> Plain:
        example: Plain = {"name": None, "proc": None, "frequency": 1.0}
        count = None
        while True:
            if self.takes("name:"):
                example["name"] = self.raw()
            elif self.takes("freq:"):
                value = self.real()
                example["frequency"] = 1.0 if self.has("frequency-lost") else value
            elif self.takes("proc:"):
                example["proc"] = self.raw()
            elif (number := self.integer("")) is not None:
                if number == 0 and not self.has("no-events"):
                    self.refuse()
                count = count if count and self.has("first-count-wins") else number or 1
            else:
                break
        body = Body(self, header, count or 1)
        while not self.takes(";"):
            body.item()
        return {**example, "lists": body.lists, "events": body.events}
