"""Finds the program ``sim``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ._errors import Error

_VARIABLE = "SYSTOLE_SIM"


def find_simulator() -> str:
    """The path of ``sim``: $SYSTOLE_SIM, else ``sim`` on PATH, else that of the checkout in which this package lies.

    Raises Error if there is none.
    """
    given = os.environ.get(_VARIABLE)
    if given:
        found = shutil.which(given)
        if found is None:
            raise Error(f"{_VARIABLE} is {given}; that is no program that can be run")
        return found
    on_path = shutil.which("sim")
    if on_path is not None:
        return on_path
    checkout = Path(__file__).resolve().parents[2]
    built = shutil.which(checkout / "build" / "release" / "sim")
    if built is not None:
        return os.fspath(built)
    raise Error(f"the program sim is not on PATH: build it (make, make install), or set {_VARIABLE} to its path")
