"""How far many runs are: a line in a notebook or on a terminal."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any


def _notebook_display() -> Any:
    """A line of a notebook that can be written again; absent outside of one."""
    ipython = sys.modules.get("IPython")  # is loaded where a notebook runs
    if ipython is None or ipython.get_ipython() is None:
        return None
    try:
        display: Any = importlib.import_module("IPython.display").display  # has no types
    except ImportError:
        return None
    return display({"text/plain": ""}, raw=True, display_id=True)


class ProgressLine:
    """``what``: the things that are counted."""

    def __init__(self, total: int, wanted: bool, what: str = "runs") -> None:
        self._total = total
        self._what = what
        self._begin = time.monotonic()
        self._display = _notebook_display() if wanted else None
        self._is_terminal = wanted and self._display is None and sys.stderr.isatty()

    def set_total(self, total: int) -> None:
        self._total = total

    def show(self, done: int, failed: int) -> None:
        if self._display is not None:
            self._display.update({"text/plain": self._text(done, failed)}, raw=True)
        elif self._is_terminal:
            print(f"\r\x1b[K{self._text(done, failed)}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """A terminal's line is removed; a notebook keeps it."""
        if self._is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _text(self, done: int, failed: int) -> str:
        text = f"{done} of {self._total} {self._what}"
        if failed:
            text += f", {failed} failed"
        seconds = time.monotonic() - self._begin
        if 0 < done < self._total:
            text += f", {seconds * (self._total - done) / done:.0f} s left"
        return text
