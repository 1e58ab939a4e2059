from __future__ import annotations

from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths in tests are those of the project; no files of the user are found."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("SYSTOLE_PATH", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
