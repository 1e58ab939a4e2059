"""A process of ``sim worker``, which runs what it is asked for. sim/run/execute/worker.h describes the messages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import IO, Any, Optional

from ._binary import find_simulator
from ._errors import Error

_LENGTH_BYTES = 8
_REQUEST = b"j"
_REPORT = b"p"
_ERROR = b"e"
_DIED = b"d"
_WARNING = "sim: warning: "
_SECONDS_TO_END = 10.0


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays, and paths, as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} is no value of a key")


def to_json(request: Any) -> str:
    """JSON text. Raises Error for values that JSON does not have."""
    try:
        return json.dumps(request, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Error(f"the request cannot be sent to the simulator: {error}") from None


def _ending(code: int) -> str:
    if code >= 0:
        return f"code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


class Worker:
    """One process. Not for several threads at once, except ``kill``."""

    def __init__(self) -> None:
        self._stderr: IO[bytes] = tempfile.TemporaryFile()
        self._read_to = 0  # of stderr
        try:
            self._process = subprocess.Popen(
                [find_simulator(), "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
            )
        except OSError as error:
            self._stderr.close()
            raise Error(f"the simulator cannot be started: {error}") from None
        except BaseException:
            self._stderr.close()
            raise

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def kill(self) -> None:
        """Ends the process and what it simulates; what waits for an answer gets an Error. From any thread."""
        self._process.terminate()  # it removes its files

    def close(self) -> None:
        self.kill()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is None:
                continue
            try:
                stream.close()
            except OSError:
                pass  # what was not sent to the ended process
        self._stderr.close()

    def ask(self, request: dict[str, Any]) -> tuple[bytes, list[str]]:
        """The JSON text of the answer, and the simulator's warnings. Raises Error with the simulator's line."""
        body = _REQUEST + to_json(request).encode()
        try:
            self._to_process.write(len(body).to_bytes(_LENGTH_BYTES, "little") + body)
            self._to_process.flush()
        except OSError:
            pass  # it has ended; the missing answer tells how
        answer = self._read_message()
        messages = self._new_messages()
        warnings = [line[len(_WARNING) :] for line in messages if line.startswith(_WARNING)]
        others = [line for line in messages if not line.startswith(_WARNING)]
        if answer is None:
            said = "".join(": " + line for line in others[:1])
            raise Error(f"the simulator ended with {_ending(self._process.wait())}{said}")
        for line in others:
            print(line, file=sys.stderr)
        kind, text = answer[:1], answer[1:]
        if kind == _REPORT:
            return text, warnings
        if kind == _ERROR:
            raise Error(text.decode(errors="replace"))
        if kind == _DIED:
            raise Error(f"the simulation died: {text.decode(errors='replace')}")
        raise Error(f"the simulator answers {kind!r}: package and simulator are of different versions")

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def _to_process(self) -> Any:
        return self._process.stdin

    def _read(self, count: int) -> bytes:
        stream = self._process.stdout
        assert stream is not None
        return stream.read(count)

    def _read_message(self) -> Optional[bytes]:
        """Absent if the process ended."""
        length = self._read(_LENGTH_BYTES)
        if len(length) < _LENGTH_BYTES:
            return None
        count = int.from_bytes(length, "little")
        body = self._read(count)
        return body if len(body) == count else None

    def _new_messages(self) -> list[str]:
        # Read by position: the process appends through the same open file.
        size = os.fstat(self._stderr.fileno()).st_size
        text = os.pread(self._stderr.fileno(), size - self._read_to, self._read_to)
        self._read_to = size
        return text.decode(errors="replace").splitlines()
