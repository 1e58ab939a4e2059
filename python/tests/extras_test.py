"""What parts of the package say where their extras are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

MISSING = [
    ("jax", "jax", "ImportError: systole.jax needs JAX, pip install 'systole[jax]': "),
    ("keras", "keras", "ImportError: systole.keras needs Keras 3 and JAX, pip install 'systole[keras]': "),
    ("keras", "jax", "ImportError: systole.keras needs Keras 3 and JAX, pip install 'systole[keras]': "),
]


@pytest.mark.parametrize(("part", "missing", "message"), MISSING)
def test_a_missing_extra_is_named(part: str, missing: str, message: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; import systole.{part}"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(message)
    assert "During handling" not in ended.stderr


def test_the_package_itself_needs_neither() -> None:
    script = "import sys, systole; print([name for name in ('jax', 'keras') if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
