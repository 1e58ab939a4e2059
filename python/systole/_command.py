"""A command of ``sim`` that runs for long, with a line of progress."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from typing import IO, Callable

from ._errors import Error
from ._progress import ProgressLine

_MESSAGE = "sim: "
_WARNING = "sim: warning: "
_SECONDS_BETWEEN_LOOKS = 0.5


class Ending:
    """How a command ended."""

    def __init__(self, code: int, printed: str, errors: str) -> None:
        self.code = code
        self.printed = printed
        lines = errors.splitlines()
        self.warnings = [line[len(_WARNING) :] for line in lines if line.startswith(_WARNING)]
        self._said = [line[len(_MESSAGE) :] for line in lines if line.startswith(_MESSAGE)]

    def error(self, command: str) -> Error:
        """What the command says is wrong."""
        return Error(self._said[-1] if self._said else f"{command} ended with code {self.code}")


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def run_command(command: list[str], line: ProgressLine, show: Callable[[], None]) -> Ending:
    """Runs it, and calls ``show`` while it runs.

    Ctrl-C is passed on once, and what the command still finishes is waited for; a second one ends it.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        # In a session of its own: Ctrl-C reaches it once, from here.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True
        )
        try:
            while True:
                try:
                    code = process.wait(_SECONDS_BETWEEN_LOOKS)
                    return Ending(code, _text_of(out), _text_of(errors))
                except subprocess.TimeoutExpired:
                    show()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            line.finish()
