"""What parts of the package say where their extras are missing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

MISSING = [
    ("jax", "jax", "ImportError: systole.jax needs JAX, pip install 'systole[jax]': "),
    ("keras", "keras", "ImportError: systole.keras needs Keras 3 and JAX, pip install 'systole[keras]': "),
    ("keras", "jax", "ImportError: systole.keras needs Keras 3 and JAX, pip install 'systole[keras]': "),
    ("jax_device", "jax", "ImportError: systole.jax_device needs JAX 0.10.2, pip install 'systole[plugin]': "),
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


def test_the_device_asks_for_one_version_of_jax_everywhere() -> None:
    version = re.search(r'^JAX_VERSION = "(.*)"$', Path("python/systole/jax_device.py").read_text(), re.MULTILINE)
    assert version is not None
    assert f'plugin = ["jax=={version[1]}", "jaxlib=={version[1]}"]' in Path("pyproject.toml").read_text()
    required = Path("tests/judges/requirements_jax.txt").read_text().splitlines()
    assert {f"jax=={version[1]}", f"jaxlib=={version[1]}"} <= set(required)
