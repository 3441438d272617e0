"""Judge how a program answers a case, in one of three roles: decoder, encoder, transcoder.

A decoder reads a file, an encoder writes the file of a meaning, and a transcoder converts a file to
another format.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from exset import formats
from exset.core.errors import Findings, FormatError
from exset.testing.conformance import meanings
from exset.testing.conformance.cases import Case
from exset.testing.conformance.nodes import BadMeaning, Document
from exset.testing.conformance.readers import Answer

Role: TypeAlias = Literal["decoder", "encoder", "transcoder"]
Outcome: TypeAlias = Literal[
    "passed",
    "not judged",
    "wrong",
    "crashed",
    "timed out",
    "unsupported",
    "skipped",
    "skipped but passes",
]
"""`not judged`: the reader answered on a file on which the real systems disagree."""

SHARING: Final = "sharing"
"""The feature of sharing lists; without it, meanings are compared as if no list were shared."""

FAILED: Final = ("wrong", "crashed", "timed out", "skipped but passes")
"""The outcomes that make a run fail."""


@dataclass(frozen=True)
class Result:
    """The outcome of a case; `messages`: what is wrong."""

    case: Case
    outcome: Outcome
    messages: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether this outcome makes the whole run fail."""
        return self.outcome in FAILED


@dataclass(frozen=True)
class Judge:
    """Judges the answers of a reader in a role.

    `target`: the format that a transcoder writes. `without`: the features that the reader does not
    support.
    """

    role: Role = "decoder"
    target: str = "bex"
    without: frozenset[str] = frozenset()

    def question(self, case: Case) -> bytes | None:
        """Return the reader's input for a case. Return None if the case does not suit the role."""
        if self.role == "decoder":
            return case.data
        if case.meaning is None or case.verdict != "valid":
            return None
        if self.role == "encoder":
            return meanings.dumped(case.meaning)
        return case.data if _converted(case, self.target) is not None else None

    def supports(self, case: Case) -> bool:
        """Return whether the reader supports all features of a case."""
        return not (self.without - {SHARING}) & {*case.features}

    def judge(self, case: Case, answer: Answer) -> Result:
        """Return the result of the answer to a case."""
        if answer.status in ("crashed", "timed out"):
            return Result(case, answer.status, (answer.reason,))
        if answer.status == "refused":
            if case.verdict == "differs":
                return Result(case, "not judged", ("refused",))
            if case.verdict == "invalid":
                return Result(case, "passed")
            why = f": {answer.reason}" if answer.reason else ""
            return Result(case, "wrong", (f"refused{why}", f"expected: accepted; {case.rule}"))
        if case.verdict == "invalid":
            return Result(case, "wrong", ("accepted", f"expected: refused; {case.rule}"))
        try:
            wrong = self._differences(case, answer.output)
        except BadMeaning as error:
            wrong = [str(error)]
        except FormatError as error:
            wrong = [f"exset cannot read the output: {error}"]
        if case.verdict == "differs":
            return Result(case, "not judged", tuple(wrong) or ("accepted, as exset does",))
        return Result(case, "wrong" if wrong else "passed", tuple(wrong))

    def _differences(self, case: Case, output: bytes | Mapping[str, object]) -> list[str]:
        """Return texts that say how the reader's output differs from the expected output."""
        expected = case.meaning
        if self.role == "transcoder":
            made = output if isinstance(output, bytes) else json.dumps(output).encode()
            converted = _converted(case, self.target)
            if converted == made:
                return []
            found = meanings.meaning(made, self.target)
            same = found == meanings.meaning(converted or b"", self.target)
            return (
                ["the bytes differ, but not the meaning"] if same else self._explained(case, found)
            )
        if self.role == "encoder":
            made = output if isinstance(output, bytes) else json.dumps(output).encode()
            found = meanings.meaning(made, case.format, options=case.options)
        elif isinstance(output, bytes):
            found = meanings.parsed(output, case.format)
        else:
            found = meanings.checked(output, case.format)
        return [] if expected is None else self._explained(case, found)

    def _explained(self, case: Case, found: Document) -> list[str]:
        family, expected = meanings.family_of(case.format), case.meaning
        assert expected is not None
        if SHARING in self.without:
            expected, found = family.unshared(expected), family.unshared(found)
        if expected == found:
            return []
        return family.explained(expected, found) or ["the meaning differs"]


def _converted(case: Case, target: str) -> bytes | None:
    """Convert the file of a case to another format. Return None if this format cannot store it."""
    model = meanings.read(case.data, case.format, Findings(), options=case.options)
    try:
        return formats.get(target).write(model, findings=Findings())
    except FormatError:
        return None
