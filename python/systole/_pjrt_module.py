"""Modules of JAX: what the device reads in them, what it changes, and what it tells JAX about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Sequence

import numpy as np
from jax._src.interpreters import mlir
from jaxlib import _jax, xla_client
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func as func_dialect
from numpy.typing import NDArray

from ._errors import Error

_MESH = re.compile(r"^\s*sdy\.mesh @(\w+) = <\[(.*?)\]", re.MULTILINE)
_MESH_AXIS = re.compile(r'"([^"]*)"=(\d+)')
_SHARDING = re.compile(r"#sdy\.sharding<@(\w+), \[(.*)\]")
#: Fields of HloModuleProto.
_OUTPUT_SHARDING, _PARAMETER_SHARDING = 12, 14
#: Fields of HloModuleProtoWithConfig, of its HloModuleConfigProto, and of the ProgramShapeProto in that.
_HLO_MODULE, _CONFIG = 1, 2
_LAYOUT = 1
_PARAMETER, _RESULT, _PARAMETER_NAME = 1, 2, 3

#: The axes along which JAX divides an array among the devices; nothing where it leaves that open.
Split = Optional[tuple[int, ...]]


@dataclass(frozen=True)
class Module:
    """A program as JAX gives it."""

    name: str
    is_donated: list[bool]
    arguments: list[Split]
    results: list[Split]
    #: Serialized HloModuleProto, and the shapes of its arguments and result.
    hlo: bytes
    shape: Any
    #: The HloModuleProto for the simulator, and the values of arguments that it has behind JAX's own. Each of these
    #: has a result of its own, too.
    program: bytes
    added: list[NDArray[Any]]

    @property
    def result_shapes(self) -> list[Any]:
        result = self.shape.result_shape()
        return list(result.tuple_shapes()) if result.is_tuple() else [result]


def read_module(code: bytes) -> Module:
    """Reads a portable artifact of StableHLO. Raises Error."""
    with mlir.make_ir_context() as context:
        module = _jax.mlir.deserialize_portable_artifact(code, context)
        name = str(module.operation.attributes["sym_name"].value).removeprefix("jit_").strip("_") or "function"
        functions: list[Any] = [each for each in module.body.operations if isinstance(each, func_dialect.FuncOp)]
        main = next(each for each in functions if each.name.value == "main")
        arguments, results = _attributes(main, "arg_attrs"), _attributes(main, "res_attrs")
        of_arguments = list(_splits(module, arguments, f"{name}: argument"))
        of_results = list(_splits(module, results, f"{name}: result"))
        is_donated = ["tf.aliasing_output" in each or "jax.buffer_donor" in each for each in arguments]
        _drop_result_shardings(main)
        own, shape = _hlo_of(module)
        program, added = own, []
        if not arguments:
            _add_argument(main)
            program, _ = _hlo_of(module)
            added.append(np.zeros((), np.float32))
        return Module(name, is_donated, of_arguments, of_results, own, shape, program, added)


def _hlo_of(module: Any) -> tuple[bytes, Any]:
    computation = _jax.mlir.mlir_module_to_xla_computation(mlir.module_to_bytecode(module))
    return computation.as_serialized_hlo_module_proto(), computation.program_shape()


def _attributes(main: Any, kind: str) -> list[Any]:
    """Of each argument, or result."""
    function = ir.FunctionType(main.function_type.value)
    count = len(function.inputs if kind == "arg_attrs" else function.results)
    return list(main.attributes[kind]) if kind in main.attributes else [{}] * count


def _splits(module: Any, attributes: Sequence[Any], what: str) -> Iterator[Split]:
    meshes = {mesh: dict(_MESH_AXIS.findall(axes)) for mesh, axes in _MESH.findall(str(module))}
    for number, each in enumerate(attributes):
        if "sdy.sharding" not in each:
            if "mhlo.sharding" in each:
                raise Error(f"{what} {number} has a sharding of GSPMD: set jax_use_shardy_partitioner, JAX's default")
            yield None
            continue
        found = _SHARDING.match(str(each["sdy.sharding"]))
        if found is None or found[1] not in meshes:
            raise Error(f"{what} {number} has a sharding that is not supported: {each['sdy.sharding']}")
        sizes = meshes[found[1]]
        dimensions = [re.findall(r'"([^"]*)"', names) for names in re.findall(r"\{(.*?)\}", found[2])]
        yield tuple(
            axis for axis, names in enumerate(dimensions) if any(int(sizes[each_name]) > 1 for each_name in names)
        )


def _drop_result_shardings(main: Any) -> None:
    """In an HLO program these are custom calls, which the simulator does not take; the device compares them itself."""
    if "res_attrs" in main.attributes:
        kept = [
            {each.name: each.attr for each in attributes if each.name != "sdy.sharding"}
            for attributes in main.attributes["res_attrs"]
        ]
        main.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in kept])


def _add_argument(main: Any) -> None:
    """One number, which is also the last result: the simulator's programs have an input, and compute something."""
    with ir.Location.unknown():
        block = main.entry_block
        number = ir.RankedTensorType.get([], ir.F32Type.get())
        added = block.add_argument(number, ir.Location.unknown())
        before = block.operations[len(block.operations) - 1]
        with ir.InsertionPoint(before):
            func_dialect.ReturnOp([*before.operands, added])
        before.operation.erase()
        function = ir.FunctionType(main.function_type.value)
        changed = ir.FunctionType.get([*function.inputs, number], [*function.results, number])
        main.attributes["function_type"] = ir.TypeAttr.get(changed)
        for kind in ("arg_attrs", "res_attrs"):
            if kind in main.attributes:
                main.attributes[kind] = ir.ArrayAttr.get([*main.attributes[kind], ir.DictAttr.get({})])


def _field(number: int, value: bytes) -> bytes:
    """A field of a protobuf message. Behind another message, it is added to that."""

    def varint(count: int) -> bytes:
        if count < 0x80:
            return bytes([count])
        return bytes([count & 0x7F | 0x80]) + varint(count >> 7)

    return varint(number << 3 | 2) + varint(len(value)) + value


def _sharding(rank: int, split: Optional[int], devices: int) -> Any:
    """OpSharding of an array."""
    text = "{replicated}"
    if split is not None:
        tiles = ",".join(str(devices if axis == split else 1) for axis in range(rank))
        text = f"{{devices=[{tiles}]<=[{devices}]}}"
    return xla_client.HloSharding.from_string(text).to_proto()


def partitioned(
    module: Module, arguments: Sequence[Optional[int]], results: Sequence[Optional[int]], devices: int
) -> bytes:
    """The module as JAX asks for it after compilation: HloModuleProtoWithConfig, with where its arrays lie.

    ``arguments`` and ``results`` have the axis along which each is divided among the devices.
    """
    parameters, result = module.shape.parameter_shapes(), module.shape.result_shape()
    hlo = module.hlo
    if devices > 1:
        for shape, split in zip(parameters, arguments):
            hlo += _field(_PARAMETER_SHARDING, _sharding(shape.rank(), split, devices).SerializeToString())
        of_results = xla_client.OpSharding()
        of_results.type = xla_client.OpSharding.Type.TUPLE
        of_results.tuple_shardings = [
            _sharding(shape.rank(), split, devices) for shape, split in zip(module.result_shapes, results)
        ]
        hlo += _field(_OUTPUT_SHARDING, of_results.SerializeToString())

    def proto(shape: Any) -> bytes:
        text: bytes = shape.with_major_to_minor_layout_if_absent().to_serialized_proto()
        return text

    # Without a layout of all arrays, JAX ends the process.
    layout = b"".join(_field(_PARAMETER, proto(shape)) for shape in parameters)
    layout += _field(_RESULT, proto(result))
    layout += b"".join(_field(_PARAMETER_NAME, str(number).encode()) for number in range(len(parameters)))
    return _field(_HLO_MODULE, hlo) + _field(_CONFIG, _field(_LAYOUT, layout))
