"""A right reader of LBANN's sample lists, which shares nothing with exset's; it can have faults."""

import re
from collections.abc import Sequence

Plain = dict[str, object]
KINDS = (
    "SINGLE-SAMPLE",
    *(
        f"{kind}_{verb}CLUSION"
        for kind in ("MULTI-SAMPLE", "CONDUIT_HDF5")
        for verb in ("IN", "EX")
    ),
    "MULTI-SAMPLE_INCLUSION_V2",
)
BLANKS = b" \t\r\f\v"


class RightList:
    """Reads a list whose ids are names: call it with the bytes; it returns None to refuse them."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes, ids: str = "text") -> Plain | None:
        self.integers = ids == "integer"
        lines = data.split(b"\n")
        if lines[-1] == b"" or "last-line-lost" in self.faults:
            lines.pop()
        if len(lines) < 3:
            return None
        first, totals, directory = (self.words(line) for line in lines[:3])
        kind = self.kind(first)
        if kind is None or not directory:
            return None
        has_labels = kind == "SINGLE-SAMPLE" or (kind.startswith("MULTI") and "_V2" not in kind)
        labels: bytes | None = None
        rest = lines[3:]
        if has_labels and "no-label-line" not in self.faults:
            if not rest or not rest[0]:
                return None
            labels = b"".join(self.words(rest.pop(0))[:1])
        counts = self.totals(totals, 1 if kind == "SINGLE-SAMPLE" else 2 if "_V2" in kind else 3)
        files: list[Plain] = []
        for line in rest:
            words = self.words(line)
            if not words or ("hash-comment" in self.faults and words[0][:1] == b"#"):
                if "blank-line-ends" in self.faults and not words:
                    break
                continue
            file = self.file(kind, words)
            if file is None:
                return None
            files.append(file)
        if kind != "SINGLE-SAMPLE" and not self.may_repeat("EXCLUSION" in kind, files):
            return None
        if counts[-1] != len(files) and "files-uncounted" not in self.faults:
            return None
        total = sum(int(str(file.get("included", 0))) for file in files)
        has_total = "totals-checked" in self.faults and kind != "SINGLE-SAMPLE"
        if has_total and counts[0] != total:
            return None
        whole = lines[2].strip() if "directory-whole" in self.faults else directory[0]
        found: Plain = {"type": kind, "directory": whole, "files": files}
        return found if labels is None else {**found, "label_file": labels}

    def may_repeat(self, is_exclusion: bool, files: list[Plain]) -> bool:
        """Whether each line of a file that has an earlier line is one that LBANN accepts."""
        sizes: dict[object, int] = {}
        for file in files:
            included, excluded = int(str(file["included"])), int(str(file["excluded"]))
            if file["name"] not in sizes:
                sizes[file["name"]] = included + excluded
            elif included + excluded * is_exclusion != sizes[file["name"]]:
                return "repeats-unchecked" in self.faults
        return True

    def words(self, line: bytes) -> list[bytes]:
        blanks = b" \r" if "no-tabs" in self.faults else BLANKS
        if "keeps-cr" in self.faults:
            blanks = blanks.replace(b"\r", b"")
        return [word for word in re.split(b"[" + blanks + b"]+", line) if word]

    def kind(self, words: list[bytes]) -> str | None:
        if not words or (len(words) > 1 and "type-alone" in self.faults):
            return None
        text = words[0].decode("latin-1")
        text = text if "type-in-capitals" in self.faults else text.upper()
        return text if text in KINDS else None

    def totals(self, words: list[bytes], count: int) -> list[int]:
        """The numbers of line 2; a word that is none, and all after it, are 0."""
        found = []
        for word in words[:count]:
            match = re.match(rb"[-+]?[0-9]+", word)
            if match is None:
                break
            found.append(int(match[0]))
            if match.end() < len(word):
                break
        return found + [0] * (count - len(found))

    def file(self, kind: str, words: list[bytes]) -> Plain | None:
        if kind == "SINGLE-SAMPLE":
            return {"name": words[0]}
        has_excluded = "_V2" not in kind or "v2-has-excluded" in self.faults
        count = 2 if has_excluded else 1
        numbers = words[1 : 1 + count]
        if len(numbers) < count or not all(re.fullmatch(rb"\+?[0-9]+", each) for each in numbers):
            return None
        included, excluded = int(numbers[0]), int(numbers[1]) if has_excluded else 0
        ids: Sequence[bytes | int] | None = words[1 + count :]
        if self.integers:
            ids = self.ranges(words[1 + count :])
        if ids is None:
            return None
        listed = excluded if "EXCLUSION" in kind else included
        if "EXCLUSION" in kind and "repeated-exclusion" not in self.faults:
            ids = [*dict.fromkeys(ids)]
        seen = len(ids)
        if seen != listed:
            is_more = "extra-ids-ignored" in self.faults and seen > listed
            is_less = "missing-ids-ignored" in self.faults and seen < listed
            if not is_more and not is_less:
                return None
            ids = ids[:listed]
        return {"name": words[0], "included": included, "excluded": excluded, "ids": self.own(ids)}

    def own(self, ids: Sequence[bytes | int]) -> list[object]:
        if "ids-sorted" in self.faults:
            return sorted(ids, key=str)
        if "ids-once" in self.faults:
            return [*dict.fromkeys(ids)]
        if "ids-lose-zeros" in self.faults:
            return [each.lstrip(b"0") or each if isinstance(each, bytes) else each for each in ids]
        return [*ids]

    def ranges(self, words: list[bytes]) -> list[int] | None:
        """The integers of words such as `0 ... 3`, as LBANN finds them, step by step."""
        found: list[int] = []
        start = end = 0
        is_open = False
        for word in words:
            number = re.match(rb"[-+]?[0-9]+", word)
            if number is not None:
                end = int(number[0])
                start = start if is_open else end
            elif word != b"..." or is_open:
                return None
            else:
                is_open = True
            if not is_open:
                found.append(end)
            elif end != start:
                found += range(start + 1, end + ("range-without-end" not in self.faults))
                is_open = False
        return None if is_open else found
