"""A right reader of aeon's manifests, which shares nothing with exset's, and can have faults."""

import base64
import math
import re
from fractions import Fraction

import numpy as np

Plain = dict[str, object]
TYPES = ("FILE", "BINARY", "STRING", "ASCII_INT", "ASCII_FLOAT")
REAL = re.compile(
    rb"[ \t\v\f\r]*([-+]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?[0-9]+)?"
    rb"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf(?:inity)?|nan))",
    re.IGNORECASE,
)


class RightManifest:
    """Reads a manifest of aeon since June 2017 from bytes; it returns None to refuse them."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes) -> Plain | None:
        types: list[str] | None = None
        records: list[list[object]] = []
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            if "no-cr" in self.faults:
                line = line.removesuffix(b"\r")
            if line[:1] == b"#" or (not line and "empty-record" not in self.faults):
                continue
            if line[:1] == b"@" and (types is None or "second-header" in self.faults):
                types = self.types(line[1:])
                if types is None or records:
                    return None if types is None else self.made(types, records)
                continue
            if line[:1] == b"@":
                return None
            if not line and not records:
                continue
            if types is None:
                if "header-optional" not in self.faults:
                    return None
                types = ["FILE"] * len(line.split(b"\t"))
            fields = self.fields(line, len(types))
            if len(fields) != len(types):
                return None
            records.append([self.element(*each) for each in zip(types, fields, strict=True)])
        return self.made(types or [], records)

    def made(self, types: list[str], records: list[list[object]]) -> Plain:
        return {"types": types, "records": records}

    def types(self, line: bytes) -> list[str] | None:
        words = line.decode("latin-1").split("\t")
        if "any-case" in self.faults:
            words = [word.upper() for word in words]
        return words if all(word in TYPES for word in words) else None

    def fields(self, line: bytes, count: int) -> list[bytes]:
        if "hash-anywhere" in self.faults:
            line = line.partition(b"#")[0]
        fields = re.split(b"[\t,]" if "commas" in self.faults else b"\t", line)
        if "trims" in self.faults:
            fields = [field.strip(b" ") for field in fields]
        if "empty-end-lost" in self.faults:
            while len(fields) > 1 and not fields[-1]:
                fields.pop()
        if "short-filled" in self.faults:
            fields += [b""] * (count - len(fields))
        return fields[:count] if "long-cut" in self.faults else fields

    def element(self, kind: str, field: bytes) -> object:
        if kind == "BINARY":
            return self.binary(field)
        if kind in ("FILE", "STRING"):
            return field
        match = REAL.match(field)
        if match is None:
            return 0 if "word-is-zero" in self.faults else None
        if "nothing-after" in self.faults and field[match.end() :].strip(b" \r"):
            return None
        return (self.integer if kind == "ASCII_INT" else self.single)(match[1].decode().lower())

    def integer(self, text: str) -> int | None:
        if "no-exponent" in self.faults and "x" not in text:
            text = text.partition("e")[0]
        value = number(text)
        if not math.isfinite(value):
            return None if "inf" not in text and "nan" not in text else -(2**31)
        is_zero = re.fullmatch(r"[-+]?(0x)?[0.]*([ep].*)?", text)
        if abs(value) < 2.2250738585072014e-308 and not is_zero:
            return None
        if "int-rounds" in self.faults:
            value = math.floor(value + 0.5)
        return int(value) if abs(int(value)) < 2**31 else -(2**31)

    def single(self, text: str) -> object:
        if "inf" in text or "nan" in text:
            return {"decimal": text.removeprefix("+")}
        if "x" in text:
            with np.errstate(all="ignore"):
                near = float(np.float32(number(text)))
        else:
            near = float(nearest(text))
        too_small = abs(near) < 1.1754943508222875e-38 and exact(text) != near
        if math.isinf(near) or (too_small and "small-accepted" not in self.faults):
            return None
        if "six-digits" in self.faults:
            return float(f"{near:.6g}")
        return near if near or text[0] != "-" else -0.0

    def binary(self, field: bytes) -> bytes:
        if "url-alphabet" in self.faults:
            field = field.replace(b"+", b"-")
        if "padding-kept" in self.faults:
            field = field.replace(b"=", b"A")
        return base64.b64decode(field)


def number(text: str) -> float:
    try:
        return float.fromhex(text) if "x" in text else float(text)
    except OverflowError:
        return math.inf


def exact(text: str) -> Fraction | float:
    return number(text) if "x" in text else Fraction(text)


def nearest(text: str) -> "np.float32":
    """The single that is nearest to a decimal: NumPy's own conversion goes by way of a double."""
    with np.errstate(all="ignore"):
        near = np.float32(float(text))
        if not np.isfinite(near):
            return near
        ends = np.float32(-np.inf), np.float32(np.inf)
        around = [near, *(np.nextafter(near, end) for end in ends)]
    decimal = Fraction(text)

    def distance(each: np.float32) -> tuple[Fraction, int]:
        return abs(Fraction(float(each)) - decimal), int(each.view(np.uint32)) % 2

    return min(filter(np.isfinite, around), key=distance)
