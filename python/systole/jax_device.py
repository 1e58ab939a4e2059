"""A simulated Cloud TPU as a device of JAX: ``JAX_PLATFORMS=systole``. ``docs/jax.md`` describes it.

$SYSTOLE_MACHINE names the machine, and $SYSTOLE_OUT a folder for the report. Nothing here is called by a user: JAX
finds the device through ``jax_plugins.systole``.
"""

from __future__ import annotations

import atexit
import os
import shutil
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, Mapping, Optional

#: Whose private functions are used here.
JAX_VERSION = "0.10.2"

try:
    for package in ("jax", "jaxlib"):
        if version(package) != JAX_VERSION:
            raise ImportError(f"this is {package} {version(package)}")
    from jax._src import xla_bridge
    from jax._src.interpreters import mlir
    from jaxlib import xla_client
except ImportError as error:
    raise ImportError(f"systole.jax_device needs JAX {JAX_VERSION}, pip install 'systole[plugin]': {error}") from None

import systole

from . import _pjrt_report
from ._errors import Error
from ._pjrt_library import Library
from ._pjrt_programs import Program, compile_program
from ._record import Record
from ._run import machine as machine_keys
from ._run import run_on, tell
from ._scratch import ScratchFolder
from ._worker import Worker
from .jax import cores_of

__all__ = ["make_client"]

_PLATFORM = "systole"
_MACHINE, _OUT = "SYSTOLE_MACHINE", "SYSTOLE_OUT"
_DEFAULT_MACHINE = "tpu_v2_8"


class _Device:
    """A machine that compiles and runs programs for JAX, one after the other. ``out``: a folder for the report."""

    def __init__(self, machine: Mapping[str, Any], cores: int, out: Optional[Path]) -> None:
        self._machine = machine
        self._cores = cores
        self._out = out
        self._folder = ScratchFolder()
        self._programs: dict[int, Program] = {}
        self._functions: dict[int, _pjrt_report.Function] = {}
        self._worker: Optional[Worker] = None
        self._lock = threading.Lock()

    def compile(self, code: bytes, options: bytes, key: int) -> Program:
        with self._lock:
            begin = time.monotonic()
            folder = Path(self._folder.name) / str(key)
            folder.mkdir()
            try:
                program = compile_program(code, options, self._machine, self._cores, folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
            self._programs[key] = program
            if self._out is not None:
                self._functions[key] = self._function_of(program, time.monotonic() - begin)
            return program

    def _function_of(self, program: Program, compile_seconds: float) -> _pjrt_report.Function:
        devices = len(program.devices)

        def run(calls: int) -> Record:
            return self._run(program, model=program.module, timing_only=True, limit=calls * devices)

        name = program.machine["name"]
        return _pjrt_report.Function(program.name, name, devices, compile_seconds, run)

    def execute(
        self, key: int, arguments: Any, argument_numbers: Any, outputs: Any, output_numbers: Any
    ) -> None:
        with self._lock:
            program = self._programs[key]
            record = self._run(program, program=program.file, input=program.inputs(arguments))
            tell(record)
            program.write(record.outputs, outputs)
            if self._out is not None:
                # The first device's arrays stand for those of all.
                state = [argument_numbers[place] for place in program.state]
                self._functions[key].add(record, state, output_numbers[: len(program.results)])

    def forget(self, key: int) -> None:
        with self._lock:
            program = self._programs.pop(key)
            program.file.unlink()
            function = self._functions.get(key)
            if function is None or function.first is None:  # else the report may run the module
                self._functions.pop(key, None)
                shutil.rmtree(program.module.parent)

    def _run(self, program: Program, /, **keys: Any) -> Record:
        if self._worker is None or not self._worker.is_alive:
            self._close_worker()
            self._worker = Worker()
        try:
            return run_on(self._worker, {"machine": program.machine, **keys})
        except Error as error:
            raise Error(str(error).replace(f"{program.file.parent}{os.sep}", "")) from None
        except BaseException:
            self._close_worker()  # whose answer to this would be read as that to the next
            raise

    def _close_worker(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def close(self) -> None:
        """Writes the report."""
        with self._lock:
            try:
                if self._out is not None:
                    _pjrt_report.write(self._out, self._machine["name"], self._cores, self._functions.values())
            finally:
                self._close_worker()
                self._folder.cleanup()


def _lower_as_for_a_tpu() -> None:
    """JAX has rules by platform; those of a TPU make plain instructions of random numbers and sums."""
    mlir._platform_specific_lowerings[_PLATFORM] = mlir._platform_specific_lowerings["tpu"]
    mlir._platforms_with_donation.append(_PLATFORM)


def make_client() -> Any:
    """What JAX has instead of a chip. Called once, where it first asks for its devices. Raises Error."""
    library = Library()
    machine = machine_keys(os.environ.get(_MACHINE) or _DEFAULT_MACHINE)
    cores = cores_of(machine)
    out = Path(os.environ[_OUT]).resolve() if os.environ.get(_OUT) else None
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)  # an error now, not at the end
    device = _Device(machine, cores, out)
    library.connect(device)

    def end() -> None:
        library.disconnect()  # JAX gives its programs back after this
        device.close()

    atexit.register(end)
    xla_client.load_pjrt_plugin_dynamically(_PLATFORM, os.fspath(library.path))
    _lower_as_for_a_tpu()
    options = {"cores": cores, "machine": machine["name"], "version": f"systole {systole.__version__}"}
    return xla_bridge.make_pjrt_c_api_client(_PLATFORM, options)
