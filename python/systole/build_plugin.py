"""Builds the library of the JAX device: ``python -m systole.build_plugin``. ``docs/jax.md`` describes the device.

It needs a compiler of C++20 ($CXX, or c++) and the header of PJRT's C interface, which is part of TensorFlow: of the
package that is installed, or else of its wheel, which pip fetches and of which only the header is kept.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Optional, Sequence

from ._errors import Error
from ._pjrt_library import SOURCES, cache_folder, library_path

#: The version of the interface that the sources are written for, a release that has it, and a Python for which that
#: has a wheel.
_MAJOR, _MINOR = 0, 90
_RELEASE, _PYTHON = "tensorflow-cpu==2.21.0", "3.12"
_HEADER = "xla/pjrt/c/pjrt_c_api.h"
_IN_WHEEL = f"tensorflow/include/{_HEADER}"


def _is_right(header: str) -> bool:
    return f"PJRT_API_MAJOR {_MAJOR}\n" in header and f"PJRT_API_MINOR {_MINOR}\n" in header


def _installed() -> Optional[str]:
    found = importlib.util.find_spec("tensorflow")  # without importing it
    for place in found.submodule_search_locations or [] if found is not None else []:
        file = Path(place) / "include" / _HEADER
        if file.exists():
            text = file.read_text(encoding="utf-8")
            if _is_right(text):
                return text
    return None


def _of_wheel() -> str:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--quiet", "--disable-pip-version-check", "--python-version", _PYTHON, "--dest", folder, _RELEASE]
        print(f"fetching {_RELEASE} for one header of it", flush=True)
        if subprocess.run(command, check=False).returncode != 0:
            raise Error(f"pip does not get {_RELEASE}; --header takes its {_IN_WHEEL}")
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            return wheel.read(_IN_WHEEL).decode()


def _include_folder(given: Optional[Path]) -> Path:
    """A folder with the header, which is kept for the next build."""
    folder = cache_folder() / "include"
    file = folder / _HEADER
    if given is not None:
        text = given.read_text(encoding="utf-8")
        if not _is_right(text):
            raise Error(f"{given} is not version {_MAJOR}.{_MINOR} of PJRT's interface; that of {_RELEASE} is")
    elif file.exists() and _is_right(file.read_text(encoding="utf-8")):
        return folder
    else:
        text = _installed() or _of_wheel()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return folder


def build(header: Optional[Path] = None) -> Path:
    """Builds the library, unless it is there, and returns its path. Raises Error."""
    library = library_path()
    if library.exists() and header is None:
        return library
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    if shutil.which(compiler[0]) is None:
        raise Error(f"there is no compiler {compiler[0]}; CXX names another")
    include = _include_folder(header)
    sources = sorted(SOURCES.glob("*.cpp"))
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder) / library.name
        # The header is C, where a member may have the name of a type. To g++ that is an error, unless it is permissive.
        options = ["-std=c++20", "-O2", "-fPIC", "-shared", "-fpermissive", "-isystem", str(include), "-o", str(made)]
        ended = subprocess.run([*compiler, *options, *sources], capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise Error(f"{compiler[0]} does not compile {SOURCES}:\n{ended.stderr}")
        made.replace(library)
    return library


def main(arguments: Optional[Sequence[str]] = None) -> None:
    about = (__doc__ or "").split("\n\n")[1]
    parser = argparse.ArgumentParser(prog="python -m systole.build_plugin", description=about)
    parser.add_argument("--header", type=Path, metavar="FILE", help="pjrt_c_api.h, instead of that of TensorFlow")
    try:
        print(build(parser.parse_args(arguments).header))
    except (Error, OSError) as error:
        sys.exit(f"systole.build_plugin: {error}")


if __name__ == "__main__":
    main()
