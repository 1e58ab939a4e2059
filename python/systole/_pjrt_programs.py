"""Programs of the JAX device, as the simulator has compiled them."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import numpy as np
from jaxlib import xla_client
from numpy.typing import NDArray

from ._binary import find_simulator
from ._errors import Error
from ._pjrt_module import Split, partitioned, read_module
from ._worker import to_json

#: NumPy's names of the number formats, in the order of PJRT_Buffer_Type.
_FORMATS = (
    None, "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "bfloat16",
)  # fmt: skip
_ARRAY = re.compile(r'^\.(input|output|constant_output (\d+)) (?:"(?:[^"\\]|\\.)*"|\S+)(.*)$')
_SHAPE = re.compile(r" shape=([\dx]+)")
_SPLIT = re.compile(r" split=(\d+)")
_STATE = re.compile(r"^\.state (\d+) \d+$")
_MESSAGE = "sim: "


@dataclass(frozen=True)
class Border:
    """An argument or a result."""

    dtype: np.dtype[Any]
    #: The shape on one device.
    shape: tuple[int, ...]
    #: The axis of which each device has a part, where the devices do not have the same.
    split: Optional[int]

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def whole(self, devices: int) -> tuple[int, ...]:
        """The shape of the array of all devices."""
        return tuple(size * devices if axis == self.split else size for axis, size in enumerate(self.shape))

    def at(self, place: int) -> NDArray[Any]:
        """The array on one device that lies there. C++ keeps it while a call runs."""
        memory = memoryview((ctypes.c_char * self.bytes).from_address(place))
        array: NDArray[Any] = np.frombuffer(memory, self.dtype).reshape(self.shape)
        return array


@dataclass(frozen=True, eq=False)
class Program:
    """A compiled program: what JAX asks of it (``Described``), and what its execution needs."""

    name: str
    machine: Mapping[str, Any]
    #: The program for the simulator, and the HLO module that it was made of.
    file: Path
    module: Path
    arguments: Sequence[Border]
    results: Sequence[Border]
    #: Values of arguments behind those of JAX.
    added: Sequence[NDArray[Any]]
    #: Arguments that a result replaces in the next call, so that they stay in the machine's memory.
    state: Sequence[int]
    devices: Sequence[int]
    is_donated: Sequence[bool]
    hlo: bytes = field(repr=False)
    device_assignment: bytes = field(repr=False)

    @property
    def argument_bytes(self) -> list[int]:
        return [each.bytes for each in self.arguments]

    @property
    def output_types(self) -> list[int]:
        return [_FORMATS.index(each.dtype.name) for each in self.results]

    @property
    def output_shapes(self) -> list[tuple[int, ...]]:
        return [each.shape for each in self.results]

    def inputs(self, places: Any) -> dict[int, NDArray[Any]]:
        """The whole arrays, of pointers to those of the first device, then of the next."""
        inputs = dict(enumerate(self.added, len(self.arguments)))
        for number, border in enumerate(self.arguments):
            on_each = places[number : len(self.arguments) * len(self.devices) : len(self.arguments)]
            if border.split is None:
                inputs[number] = border.at(on_each[0])
            else:
                inputs[number] = np.concatenate([border.at(place) for place in on_each], axis=border.split)
        return inputs

    def write(self, outputs: Mapping[str, NDArray[Any]], places: Any) -> None:
        """Each device's part of the results, to such pointers."""
        devices = len(self.devices)
        for number, border in enumerate(self.results):
            whole = outputs[f"output {number}"].reshape(border.whole(devices)).astype(border.dtype)
            parts = [whole] * devices if border.split is None else np.split(whole, devices, axis=border.split)
            for device, part in enumerate(parts):
                border.at(places[device * len(self.results) + number])[...] = part


@dataclass(frozen=True)
class _Array:
    """What an assembly says of an argument or a result: its shape on one device, and the axis that is divided."""

    shape: tuple[int, ...]
    split: Optional[int]


@dataclass(frozen=True)
class _Header:
    arguments: list[_Array]
    results: list[_Array]
    state: list[int]


def _read_header(assembly: str) -> _Header:
    arguments: list[_Array] = []
    computed: list[_Array] = []
    constants: dict[int, _Array] = {}  # by their places among all results
    state: list[int] = []
    for line in assembly.splitlines():
        if line and not line.startswith("."):
            break  # the instructions
        pair = _STATE.match(line)
        if pair is not None:
            state.append(int(pair[1]))
        found = _ARRAY.match(line)
        if found is None:
            continue
        shape, split = _SHAPE.search(found[3]), _SPLIT.search(found[3])
        array = _Array(
            tuple(int(size) for size in shape[1].split("x")) if shape is not None else (),
            int(split[1]) if split is not None else None,
        )
        if found[2] is not None:
            constants[int(found[2])] = array
        else:
            (arguments if found[1] == "input" else computed).append(array)
    left = iter(computed)
    results = [
        constants[place] if place in constants else next(left) for place in range(len(computed) + len(constants))
    ]
    return _Header(arguments, results, state)


def _simulator(command: str, *arguments: Any, folder: Path) -> str:
    """What a command of ``sim`` prints. Raises Error with its message, without the folder in it."""
    ended = subprocess.run(
        [find_simulator(), command, *map(os.fspath, arguments)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode == 0:
        return ended.stdout
    said = [line[len(_MESSAGE) :] for line in ended.stderr.splitlines() if line.startswith(_MESSAGE)]
    message = said[-1] if said else f"sim {command} ended with code {ended.returncode}"
    raise Error(message.replace(f"{folder}{os.sep}", ""))


def _machine_for(name: str, devices: Sequence[int], machine: Mapping[str, Any], cores: int) -> Mapping[str, Any]:
    """What a program for these devices runs on. Raises Error for some of the cores, or for all in another order."""
    if list(devices) == list(range(cores)):
        return machine
    if len(devices) == 1:
        # The others of its chip are idle, and leave it their memory and links.
        alone = {key: value for key, value in machine.items() if key not in ("system", "interconnect")}
        return {**alone, "name": f"{machine['name']} (1 core)"}
    if len(devices) == cores:
        raise Error(f"{name}: its devices are {list(devices)}; a program for all cores has them in their order")
    raise Error(f"{name} is for {len(devices)} of {cores} cores; a program runs on one core, or on all of them")


def _devices_of(options: Any) -> list[int]:
    """Of each part. JAX gives an assignment as text alone: "Computation0{3} Computation1{4}"."""
    devices = re.findall(r"Computation\d+\{(\d+)\}", str(options.device_assignment))
    return [int(device) for device in devices]


def _check_options(name: str, options: Any) -> None:
    if options.parameter_is_tupled_arguments:
        raise Error(f"{name}: its arguments are in one tuple, which the device does not take")
    if options.num_replicas != 1:
        raise Error(f"{name} has {options.num_replicas} replicas; devices share a program by jax.pmap or jax.shard_map")
    if options.env_option_overrides:
        keys = ", ".join(key for key, _ in options.env_option_overrides)
        raise Error(f"{name}: the device has no compiler_options; {keys} is given")


def _borders(name: str, shapes: Sequence[Any], arrays: Sequence[_Array], devices: int) -> list[Border]:
    borders = []
    for shape, array in zip(shapes, arrays, strict=True):
        border = Border(np.dtype(shape.numpy_dtype()), array.shape, array.split)
        if border.dtype.name not in _FORMATS or border.whole(devices) != tuple(shape.dimensions()):
            raise Error(f"{name}: an array {shape} became {border}; package and simulator are of different versions")
        borders.append(border)
    return borders


def _check_splits(what: str, asked: Sequence[Split], borders: Sequence[Border]) -> None:
    """Nothing moves between the devices before and after a program, so that JAX must divide arrays as that does."""

    def text(axes: tuple[int, ...]) -> str:
        return f"divided along axis {' and '.join(map(str, axes))}" if axes else "whole on each device"

    for number, (axes, border) in enumerate(zip(asked, borders)):
        own = () if border.split is None else (border.split,)
        if axes is not None and axes != own:
            raise Error(f"{what} {number} is {text(axes)}; the program has it {text(own)}")


def compile_program(
    code: bytes, options: bytes, machine: Mapping[str, Any], cores: int, folder: Path
) -> Program:
    """Compiles a portable artifact of StableHLO with JAX's options. The folder is for its files. Raises Error."""
    asked = xla_client.CompileOptions.ParseFromString(options)
    module = read_module(code)
    name = module.name
    _check_options(name, asked)
    devices = _devices_of(asked)
    its_machine = _machine_for(name, devices, machine, cores)
    machine_file, module_file, file = folder / "machine.json", folder / f"{name}.hlo", folder / f"{name}.tpu"
    machine_file.write_text(to_json(its_machine), encoding="utf-8")
    module_file.write_bytes(module.program)
    _simulator("compile", module_file, "--machine", machine_file, "-o", file, "--quiet", folder=folder)
    header = _read_header(_simulator("disasm", file, folder=folder))
    # Those that were added stand behind JAX's own.
    own, added = module.shape, len(module.added)
    arguments = _borders(name, own.parameter_shapes(), header.arguments[: len(header.arguments) - added], len(devices))
    results = _borders(name, module.result_shapes, header.results[: len(header.results) - added], len(devices))
    _check_splits(f"{name}: argument", module.arguments, arguments)
    _check_splits(f"{name}: result", module.results, results)
    return Program(
        name=name,
        machine=its_machine,
        file=file,
        module=module_file,
        arguments=arguments,
        results=results,
        added=module.added,
        state=header.state,
        devices=devices,
        is_donated=module.is_donated,
        hlo=partitioned(module, [each.split for each in arguments], [each.split for each in results], len(devices)),
        device_assignment=asked.device_assignment.serialize(),
    )
