"""Readers under test: Python functions, and programs in any language.

A program gets a file on standard input. If one of its arguments is `{}`, it gets the file's path
there instead. It writes its answer to standard output. Exit code 0 means that it accepts the file,
1 that it refuses the file. Any other code, or a traceback of Python, is a crash.

A few cases have options, such as `ids=integer`. Then `{ids}` in an argument is replaced by
`integer`. In a case without this option, `{ids}` is removed.

With `loop` one process answers all cases. exset writes the length of each file in decimal digits, a
blank before each option, a line feed, and the file. The program answers `0` or `1`, a blank, the
length of its output, a line feed, and the output. It ends when standard input ends.
"""

import os
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Timer
from types import MappingProxyType, TracebackType
from typing import IO, Final, Literal, Self, TypeAlias

TIMEOUT: Final = 10.0
"""The default time limit for a case, in seconds."""

MAX_OUTPUT: Final = 1 << 28
"""The largest answer, in bytes."""

_TRACEBACK: Final = b"Traceback (most recent call last):"
"""The line that Python writes when it crashes; its exit code is then 1, too."""

OPTIONS: Final = ("ids",)
"""The options that cases may have. Other words in braces are not replaced: awk needs them."""

NO_OPTIONS: Final[Mapping[str, str]] = MappingProxyType({})
"""The options of most cases."""

Status: TypeAlias = Literal["accepted", "refused", "crashed", "timed out"]


@dataclass(frozen=True)
class Answer:
    """The answer of a reader to a file: its output, or the reason why it refused or crashed."""

    status: Status
    output: bytes | Mapping[str, object] = b""
    reason: str = ""


class Reader(ABC):
    """A reader under test. Use it in a `with` statement, which ends the reader's processes."""

    @abstractmethod
    def answer(self, data: bytes, options: Mapping[str, str] = NO_OPTIONS) -> Answer:
        """Return the reader's answer to the contents of a file. `options`: how to read the file."""

    def close(self) -> None:  # noqa: B027
        """End the processes of the reader, if it has any."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class FunctionReader(Reader):
    """A function that gets the contents of a file and returns its meaning.

    The function refuses a file if it returns None or raises ValueError, such as FormatError. Any
    other exception is a crash.
    """

    def __init__(self, function: Callable[..., Mapping[str, object] | bytes | None]) -> None:
        self._function = function

    def answer(self, data: bytes, options: Mapping[str, str] = NO_OPTIONS) -> Answer:
        """Call the function; the options of a case are keyword arguments."""
        try:
            output = self._function(data, **options)
        except ValueError as error:
            return Answer("refused", reason=str(error))
        except Exception as error:
            return Answer("crashed", reason=f"{type(error).__name__}: {error}")
        return Answer("refused") if output is None else Answer("accepted", output)


class ProgramReader(Reader):
    """A program that is started for each case."""

    def __init__(self, command: Sequence[str], timeout: float = TIMEOUT) -> None:
        self._command = list(command)
        self._timeout = timeout

    def answer(self, data: bytes, options: Mapping[str, str] = NO_OPTIONS) -> Answer:
        """Run the program on a file; return its answer. Raises OSError if it does not start."""
        words = [_filled(word, options) for word in self._command]
        if "{}" not in words:
            return self._run(words, data)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case")
            with open(path, "wb") as file:
                file.write(data)
            return self._run([path if word == "{}" else word for word in words], b"")

    def _run(self, command: list[str], data: bytes) -> Answer:
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, process_group=0
        ) as process:
            try:
                output, errors = process.communicate(data, timeout=self._timeout)
            except subprocess.TimeoutExpired:
                return Answer("timed out", reason=f"no answer in {self._timeout:g} s")
            finally:
                if process.returncode is None:
                    _kill(process)
        code = process.returncode
        if _TRACEBACK in errors and code == 1:
            return Answer("crashed", reason=_last(errors))
        if code in (0, 1):
            return Answer("refused" if code else "accepted", output, _last(errors))
        return Answer("crashed", reason=f"exit code {code}{_last(errors, ': ')}")


class LoopReader(Reader):
    """A program that answers one case after another. After a crash, it is started again."""

    def __init__(self, command: Sequence[str], timeout: float = TIMEOUT) -> None:
        self._command = list(command)
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._has_answered = False

    def answer(self, data: bytes, options: Mapping[str, str] = NO_OPTIONS) -> Answer:
        """Send a file and its options to the program, which keeps running; return the answer.

        Raises OSError if the program cannot be started, and ValueError if it gives no answer to the
        first case.
        """
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, process_group=0
            )
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        timer = Timer(self._timeout, _kill, [process])
        timer.start()
        try:
            words = "".join(f" {name}={value}" for name, value in options.items())
            answer = self._exchange(process.stdin, process.stdout, data, words)
            self._has_answered = True
            return answer
        except (EOFError, OSError, ValueError) as error:
            is_late = not timer.is_alive()
            self.close()
            if is_late and not self._has_answered:
                raise ValueError(
                    f"the program gave no answer to the first case in {self._timeout:g} s: with "
                    "--loop it gets the length of a file before the file"
                ) from None
            if is_late:
                return Answer("timed out", reason=f"no answer in {self._timeout:g} s")
            return Answer("crashed", reason=str(error) or "the program ended")
        finally:
            timer.cancel()

    def _exchange(self, stdin: IO[bytes], stdout: IO[bytes], data: bytes, options: str) -> Answer:
        stdin.write(f"{len(data)}{options}\n".encode() + data)
        stdin.flush()
        head = stdout.readline(100)
        if not head:
            raise EOFError("the program ended without an answer")
        words = head.split()
        if len(words) != 2 or words[0] not in (b"0", b"1") or not words[1].isdigit():
            raise ValueError(f"the answer begins with {head!r}: expected a status and a length")
        if (size := int(words[1])) > MAX_OUTPUT:
            raise ValueError(f"the answer has {size:,} bytes: expected at most {MAX_OUTPUT:,}")
        output = stdout.read(size)
        if len(output) < size:
            raise EOFError(f"the program ended after {len(output):,} of {size:,} bytes")
        return Answer("accepted" if words[0] == b"0" else "refused", output)

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was not sent cannot be sent any more
                    continue
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and its child processes, such as those of a shell script.

    Windows has no groups of processes: there, only the program ends.
    """
    if not hasattr(os, "killpg"):
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # they ended; macOS says that it may not
        process.kill()


def _filled(word: str, options: Mapping[str, str]) -> str:
    """Return a word of a command, with option names in braces replaced by the options' values."""
    for name in OPTIONS:
        word = word.replace(f"{{{name}}}", options.get(name, ""))
    return word


def _last(stderr: bytes, before: str = "") -> str:
    """Return the last line that a program wrote to standard error, after the text `before`.

    Return "" if the program wrote nothing.
    """
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return before + lines[-1][:500] if lines else ""
