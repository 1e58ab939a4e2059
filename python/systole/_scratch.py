"""Folders for files that a run needs only while it runs."""

from __future__ import annotations

import fcntl
import os
import tempfile


class ScratchFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder that is removed even if this process is killed: it holds the lock of a file in it, as the
    simulator's own do (sim/run/execute/scratch_folder.h), and a later simulator removes folders that nobody holds."""

    def __init__(self) -> None:
        super().__init__(prefix="systole_")
        self._lock = os.open(os.path.join(self.name, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def cleanup(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        super().cleanup()
