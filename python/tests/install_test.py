"""``pip install .``, and the notebook."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import systole

PROJECT = Path(__file__).resolve().parents[2]


def test_pip_installs_the_package_without_a_network(tmp_path: Path) -> None:
    for needed in ("pip", "setuptools", "wheel"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    source = tmp_path / "source"  # setuptools writes into it
    source.mkdir()
    shutil.copy(PROJECT / "pyproject.toml", source)
    for folder in ("python/systole", "python/jax_plugins", "docs"):
        shutil.copytree(PROJECT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path / "target"
    command = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--no-deps"]
    done = subprocess.run([*command, "--target", target, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (target / "systole" / "py.typed").exists()
    assert (target / "jax_plugins" / "systole" / "__init__.py").exists()
    sources = PROJECT / "python" / "systole" / "pjrt"
    assert sorted(file.name for file in (target / "systole" / "pjrt").iterdir()) == sorted(
        file.name for file in sources.iterdir()
    )
    program = "import systole; print(systole.__file__, systole.run(file='mnist_cnn', timing_only=True).cycles)"
    environment = dict(os.environ, PYTHONPATH=os.fspath(target))
    said = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split()
    assert said[0].startswith(os.fspath(target))
    assert int(said[1]) == systole.run(file="mnist_cnn", timing_only=True).cycles


def test_the_version_is_that_of_the_simulator() -> None:
    said = subprocess.run([systole.find_simulator(), "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[1] == systole.__version__


def test_the_notebook_runs_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)  # the notebook works from any folder
    notebook = json.loads((PROJECT / "docs" / "python" / "tutorial.ipynb").read_text())
    assert notebook["nbformat"] == 4
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 6
    names: dict[str, object] = {}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"cell {number}", "exec"), names)
    # What the tutorial's text says of the study.
    assert names["base"].cycles == 220_867
    assert names["fifo_8"].cycles == 215_053
    assert names["half_clock"].cycles == 204_534
    assert names["small"].cycles == 390_047
