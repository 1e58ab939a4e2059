#!/usr/bin/env bash
# The Python package in an environment of its own, build/judges/python_env: its tests with Parquet, JAX and Keras, those
# of the device of JAX, its types, and the notebooks in a Jupyter kernel. python_package.sh SIM
set -euo pipefail
cd "$(dirname "$0")/../.."

environment=build/judges/python_env
requirements=(tests/judges/requirements_jax.txt tests/judges/requirements_python.txt)
if ! cat "${requirements[@]}" | cmp -s - "$environment/requirements.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]/#/--requirement=}"
    cat "${requirements[@]}" > "$environment/requirements.txt"
fi
SYSTOLE_SIM=$(realpath "$1")
XDG_CACHE_HOME=$PWD/build/judges/cache  # of the device's library and its header
export SYSTOLE_SIM XDG_CACHE_HOME PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu
"$environment/bin/python" -m systole.build_plugin
"$environment/bin/python" -m pytest -q -p no:cacheprovider python/tests
JAX_PLATFORMS=systole,cpu "$environment/bin/python" -m pytest -q -p no:cacheprovider python/tests/device_test.py
MYPYPATH=python "$environment/bin/python" -m mypy --strict --explicit-package-bases --cache-dir build/judges/mypy \
    python/systole python/jax_plugins
"$environment/bin/python" - << 'END'
import os
import tempfile
from pathlib import Path

import nbclient
import nbformat

os.environ["PYTHONPATH"] = str(Path("python").resolve())
for path in sorted(Path("docs/python").glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:  # notebooks work from any folder
        nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": folder}}).execute()
    kinds = {output.output_type for cell in notebook.cells for output in cell.get("outputs", [])}
    cells = sum(cell.cell_type == "code" for cell in notebook.cells)
    print(f"{path}: {cells} cells, outputs: {', '.join(sorted(kinds))}")
END
