"""The library that JAX loads for the device, built of the sources in ``pjrt`` by ``python -m systole.build_plugin``."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
from pathlib import Path
from typing import Any, Callable, Protocol, Sequence

from ._errors import Error

SOURCES = Path(__file__).resolve().parent / "pjrt"
BUILD_COMMAND = "python -m systole.build_plugin"

#: Codes of PJRT_Error_Code.
CANCELLED, UNIMPLEMENTED, INTERNAL = 1, 12, 13

_Places = ctypes.POINTER(ctypes.c_void_p)
_Numbers = ctypes.POINTER(ctypes.c_uint64)
_Compile = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
)
_Execute = ctypes.CFUNCTYPE(None, ctypes.c_int64, _Places, _Numbers, _Places, _Numbers, ctypes.c_void_p)


class _Callbacks(ctypes.Structure):
    """SystoleCallbacks of pjrt/bridge.h."""

    _fields_ = [("compile", _Compile), ("execute", _Execute)]


def cache_folder() -> Path:
    """Where built libraries lie, and the header that they need."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "systole"


def library_path() -> Path:
    """Another one for other sources, so that a library is never older than the package."""
    digest = hashlib.sha256()
    for source in sorted(SOURCES.iterdir()):
        if source.suffix in (".h", ".cpp"):
            digest.update(source.read_bytes())
    return cache_folder() / f"pjrt_{digest.hexdigest()[:16]}.so"


class Described(Protocol):
    """What JAX asks of a program that was compiled. Shapes and bytes are those on one device."""

    @property
    def name(self) -> str: ...

    @property
    def devices(self) -> Sequence[int]:
        """The number of the device of each part of the program."""

    @property
    def argument_bytes(self) -> Sequence[int]: ...

    @property
    def is_donated(self) -> Sequence[bool]:
        """Of each argument."""

    @property
    def output_types(self) -> Sequence[int]:
        """Number formats, of PJRT_Buffer_Type."""

    @property
    def output_shapes(self) -> Sequence[tuple[int, ...]]: ...

    @property
    def hlo(self) -> bytes:
        """Serialized HloModuleProtoWithConfig."""

    @property
    def device_assignment(self) -> bytes:
        """Serialized DeviceAssignmentProto."""


class Backend(Protocol):
    """What the library calls. Each error is an exception."""

    def compile(self, code: bytes, options: bytes, key: int) -> Described: ...

    def execute(
        self, key: int, arguments: Any, argument_numbers: Any, outputs: Any, output_numbers: Any
    ) -> None:
        """Pointers to the arrays of the first device, then of the next, and numbers: equal ones are one array."""

    def forget(self, key: int) -> None:
        """No one can run this program again."""


class Library:
    """The library in this process. Raises Error where it is not built."""

    def __init__(self) -> None:
        self.path = library_path()
        if not self.path.exists():
            raise Error(f"the JAX device of Systole is not built: {BUILD_COMMAND}")
        self._library = ctypes.CDLL(os.fspath(self.path))
        self._library.systole_next_ended.restype = ctypes.c_int64
        self._keys = itertools.count(1)  # 0 is none
        # Kept: C++ has pointers to them.
        self._callbacks = _Callbacks(_Compile(self._compile), _Execute(self._execute))

    def connect(self, backend: Backend) -> None:
        self._backend = backend
        self._library.systole_connect(ctypes.byref(self._callbacks))

    def disconnect(self) -> None:
        """No call comes back to Python after this."""
        self._library.systole_connect(None)

    def _guarded(self, error: int, work: Callable[[], None]) -> None:
        """Says what went wrong. No exception may reach C++."""
        try:
            while ended := self._library.systole_next_ended():
                self._backend.forget(ended)
            work()
        except Error as failed:
            self._fail(error, UNIMPLEMENTED, str(failed))
        except KeyboardInterrupt:
            self._fail(error, CANCELLED, "interrupted")  # and the library sends the signal again
        except BaseException as failed:
            self._fail(error, INTERNAL, f"{type(failed).__name__}: {failed}")

    def _fail(self, error: int, code: int, message: str) -> None:
        self._library.systole_fail(ctypes.c_void_p(error), code, message.encode())

    def _compile(self, program: int, code: int, code_size: int, options: int, options_size: int, error: int) -> None:
        def work() -> None:
            key = next(self._keys)  # of this call, also where threads compile at once
            module, asked = ctypes.string_at(code, code_size), ctypes.string_at(options, options_size)
            self._describe(program, key, self._backend.compile(module, asked, key))

        self._guarded(error, work)

    def _describe(self, program: int, key: int, described: Described) -> None:
        library, place = self._library, ctypes.c_void_p(program)
        library.systole_set_program(place, ctypes.c_int64(key), described.name.encode())
        for device in described.devices:
            library.systole_add_device(place, ctypes.c_int64(device))
        for size, is_donated in zip(described.argument_bytes, described.is_donated):
            library.systole_add_argument(place, ctypes.c_int64(size), int(is_donated))
        for kind, shape in zip(described.output_types, described.output_shapes):
            dims = (ctypes.c_int64 * len(shape))(*shape)
            library.systole_add_output(place, kind, dims, ctypes.c_int64(len(shape)))
        library.systole_set_protos(
            place,
            described.hlo,
            ctypes.c_int64(len(described.hlo)),
            described.device_assignment,
            ctypes.c_int64(len(described.device_assignment)),
        )

    def _execute(
        self, key: int, arguments: Any, argument_numbers: Any, outputs: Any, output_numbers: Any, error: int
    ) -> None:
        self._guarded(
            error, lambda: self._backend.execute(key, arguments, argument_numbers, outputs, output_numbers)
        )
