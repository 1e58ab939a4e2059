"""Functions of JAX on a simulated Cloud TPU: ``pip install systole[jax]``. ``docs/jax.md`` describes it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Generic, Iterator, Mapping, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError(f"systole.jax needs JAX, pip install 'systole[jax]': {error}") from None

from ._errors import Error
from ._record import Record
from ._run import machine as machine_keys
from ._run import run
from ._scratch import ScratchFolder

FilePath = Union[str, "os.PathLike[str]"]
Result = TypeVar("Result")

__all__ = ["Simulation", "export", "simulate"]

_LOCATIONS = "jax_traceback_in_locations_limit"
_MESH = re.compile(r"^\s*sdy\.mesh @\w+ = <\[(.*?)\]", re.MULTILINE)
_PARTITIONS = re.compile(r"mhlo\.num_partitions = (\d+)")
_SIZE = re.compile(r"\"=(\d+)")


@dataclass(frozen=True, eq=False)
class Simulation(Generic[Result]):
    """What a function returned on a simulated chip, and the report of this run."""

    #: The results, as JAX would return them.
    value: Result
    #: The report.
    record: Record

    def __repr__(self) -> str:
        return f"<systole.jax.Simulation: {self.record!r}>"

    def _repr_html_(self) -> str:
        return self.record._repr_html_()


def _name_of(function: Callable[..., Any]) -> str:
    inner = getattr(function, "func", function)  # of functools.partial
    name = str(getattr(inner, "__name__", "function"))
    return re.sub(r"\W+", "_", name).strip("_") or "function"


def _lower(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The function as it is compiled for a TPU, with all of its arguments, and without places in its source."""
    before = getattr(jax.config, _LOCATIONS)
    jax.config.update(_LOCATIONS, 0)
    try:
        return jax.jit(function, keep_unused=True).trace(*arguments).lower(lowering_platforms=("tpu",))
    finally:
        jax.config.update(_LOCATIONS, before)


def _module_of(lowered: Any) -> bytes:
    module: bytes = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
    return module


def program_of(function: Callable[..., Any], *arguments: Any) -> bytes:
    """A serialized HLO module."""
    return _module_of(_lower(function, arguments))


def _devices_of(lowered: Any) -> int:
    """For how many devices the program is."""
    text = lowered.compiler_ir("stablehlo").operation.get_asm(large_elements_limit=16)
    sizes = [int(number) for number in _PARTITIONS.findall(text)]
    for axes in _MESH.findall(text):
        sizes.append(int(np.prod([int(size) for size in _SIZE.findall(axes)])))
    return max(sizes, default=1)


def cores_of(keys: Mapping[str, Any]) -> int:
    """The cores of a machine file that work on one program."""
    system = keys.get("system", {})
    return int(system.get("chips", 1)) * int(system.get("cores", 1))


def _check_devices(name: str, devices: int, keys: Mapping[str, Any]) -> None:
    cores = cores_of(keys)
    if devices == cores:
        return
    of = "1 device" if devices == 1 else f"{devices} devices"
    has = "1 core" if cores == 1 else f"{cores} cores"
    way = "take a machine of one core" if devices == 1 else f"take a machine of {devices} cores"
    if cores > 1:
        way = f"say with jax.shard_map what each of {cores} devices does, or {way}"
    elif devices > 1:
        way = f"leave jax.shard_map out, or {way}"
    raise Error(f"{name} is a program for {of}, and machine {keys['name']} has {has}: {way}")


def _is_key(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _as_input(value: Any, dtype: Any) -> NDArray[Any]:
    if hasattr(value, "dtype") and _is_key(value):
        return np.asarray(jax.random.key_data(value))
    return np.asarray(value).astype(dtype)


def _without_keys(function: Callable[..., Any], kinds: list[Any]) -> Callable[..., Any]:
    """The function with the numbers of each random key in place of it; adds the kind of each, or None, by result."""

    def plain(*arguments: Any) -> Any:
        kinds.clear()

        def numbers(result: Any) -> Any:
            result = jnp.asarray(result)
            kinds.append(jax.random.key_impl(result) if _is_key(result) else None)
            return jax.random.key_data(result) if _is_key(result) else result

        return jax.tree.map(numbers, function(*arguments))

    plain.__name__ = plain.__qualname__ = _name_of(function)
    plain.__wrapped__ = function  # type: ignore[attr-defined]  # whose arguments give the inputs their names
    return plain


def export(function: Callable[..., Any], *args: Any, path: FilePath) -> Path:
    """Writes a function as a program that ``sim`` runs, and returns the path.

    ``args`` are arrays, or their shapes (``jax.ShapeDtypeStruct``). The file is a serialized HLO module, lowered for a
    TPU; its inputs are all arrays of the arguments.
    """
    place = Path(path)
    place.write_bytes(program_of(function, *args))
    return place


def simulate(
    function: Callable[..., Result],
    *args: Any,
    machine: Union[FilePath, Mapping[str, Any]] = "tpu_v2_8",
    settings: Optional[Mapping[str, Any]] = None,
) -> Simulation[Result]:
    """Runs a function on a simulated chip, and returns its results as that computed them, and the record.

    ``machine`` and ``settings`` are those of ``systole.run``. A function on a machine of several cores says with
    ``jax.shard_map`` what each of them does; JAX itself needs no such devices, a mesh may be abstract:
    ``jax.sharding.AbstractMesh((8,), ("cores",))``.

    Raises Error with the simulator's message.
    """
    kinds: list[Any] = []
    lowered = _lower(_without_keys(function, kinds), args)
    keys = machine_keys(machine, settings)
    name = _name_of(function)
    _check_devices(name, _devices_of(lowered), keys)
    inputs = {
        position: _as_input(value, aval.dtype)
        for position, (value, aval) in enumerate(zip(jax.tree.leaves(args), jax.tree.leaves(lowered.in_avals)))
    }
    if not inputs:
        raise Error(f"{name} takes no array; a program must have an input")
    with ScratchFolder() as folder:
        file = Path(folder) / f"{name}.hlo"
        file.write_bytes(_module_of(lowered))
        try:
            record = run(machine, file, inputs, settings=settings)
        except Error as error:
            raise Error(str(error).replace(f"{folder}/", "")) from None

    def results() -> Iterator[Any]:
        for number, (aval, kind) in enumerate(zip(jax.tree.leaves(lowered.out_info), kinds)):
            array = record.outputs[f"output {number}"].reshape(aval.shape)
            result = jnp.asarray(array, dtype=aval.dtype)
            yield result if kind is None else jax.random.wrap_key_data(result, impl=kind)

    value: Result = jax.tree.unflatten(jax.tree.structure(lowered.out_info), results())
    return Simulation(value, record)
