"""The process that owns the lock of a cache, as the lock file describes it."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Owner:
    """The process that wrote a lock.

    pid: the process id, 0 if unknown. host: the name of the machine. start: when the process
    started.
    """

    pid: int = 0
    host: str = ""
    start: str = ""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}" if self.pid else "aeon"

    @property
    def is_foreign(self) -> bool:
        """Whether the process is on another machine."""
        return self.pid != 0 and self.host != host()

    def has_ended(self) -> bool:
        """Return whether the process has certainly ended. A newer process may have the same id."""
        if not self.pid or self.is_foreign or os.name == "nt":  # there `kill` would end the process
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass
        start = start_of(self.pid)
        return bool(start and self.start and start != self.start)

    def to_json(self) -> bytes:
        """Return the text to write into a lock."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def this(cls) -> "Owner":
        """Return this process as an owner."""
        return cls(os.getpid(), host(), start_of(os.getpid()))

    @classmethod
    def from_json(cls, text: bytes) -> "Owner":
        """Return the owner that the text of a lock names. Return an unknown owner if the text names
        none.
        """
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            words = json.loads(text)
            pid = words["pid"]
            if isinstance(pid, int) and 0 < pid < 1 << 31:
                return cls(pid, str(words["host"]), str(words["start"]))
        return cls()


def host() -> str:
    """Return the name of this machine."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def start_of(pid: int) -> str:
    """Return the start time of a process, which is unique on this machine. Return "" if it is
    unknown.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            ticks = file.read().rpartition(b")")[2].split()[19]
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return f"{file.read().strip().decode()} {ticks.decode()}"
    except (OSError, IndexError, ValueError):
        return ""
