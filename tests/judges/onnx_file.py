"""Writes an ONNX file node by node."""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cases import Arrays
from draw import Draw

# The version of the file's own format that came with each opset.
IR_VERSIONS = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10}


class OnnxFile:
    """A graph under construction. Tensors are names; `values` holds what the inputs get."""

    def __init__(self, draw: Draw, opset: int) -> None:
        self.draw, self.opset = draw, opset
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: dict[str, str] = {}
        self.initializers: list[onnx.TensorProto] = []
        self.functions: list[onnx.FunctionProto] = []
        self.values: Arrays = {}
        # Files before version 4 list their constants among the inputs too.
        self.constants_are_inputs = IR_VERSIONS[opset] < 4
        self.names = 0
        # The runtime's name of an operator, ONNX's own, and the opset since which that is known.
        self.newer_name: tuple[str, str, int] | None = None

    def input(self, name: str, values: np.ndarray, has_batch: bool = True) -> str:
        shape: list[int | str] = list(values.shape)
        if has_batch and shape and shape[0] == 1 and self.draw.chance(0.15):
            shape[0] = "batch"
        self.inputs.append(helper.make_tensor_value_info(name, _type(values.dtype), shape))
        self.values[name] = values
        return name

    def nibbles(self, name: str, values: np.ndarray, type_name: str) -> str:
        """A constant of integers of 4 bits, as bytes or in the field of its type."""
        type_number = getattr(TensorProto, type_name.upper())
        tensor = helper.make_tensor(name, type_number, values.shape, values.flatten())
        if self.draw.chance(0.5):
            packed = bytes(number & 0xFF for number in tensor.int32_data)
            tensor = helper.make_tensor(name, type_number, values.shape, packed, raw=True)
        self.initializers.append(tensor)
        return name

    def constant(self, name: str, values: np.ndarray) -> str:
        """A constant tensor: an initializer or, at times, a Constant node."""
        tensor = numpy_helper.from_array(np.asarray(values, order="C"), name)
        if values.dtype in (np.float32, np.int64) and self.draw.chance(0.2):
            # In the fields of its type instead of as bytes.
            tensor = helper.make_tensor(name, _type(values.dtype), values.shape, values.flatten())
        if self.draw.chance(0.15):
            self.node("Constant", [], name, value=tensor)
            return name
        self.initializers.append(tensor)
        if self.constants_are_inputs:
            info = helper.make_tensor_value_info(name, _type(values.dtype), list(values.shape))
            self.inputs.append(info)
        return name

    def with_newer_name(self, model: bytes) -> bytes:
        """The file with ONNX's own name of an operator, which the runtime has under another one."""
        if self.newer_name is None:
            return model
        former, name, opset = self.newer_name
        proto = onnx.load_from_string(model)
        for node in proto.graph.node:
            node.op_type = name if node.op_type == former else node.op_type
        proto.opset_import[0].version = opset
        return proto.SerializeToString()

    def integers(self, name: str, values: Sequence[int] | int) -> str:
        return self.constant(name, np.array(values, dtype=np.int64))

    def node(
        self, operator: str, inputs: Sequence[str], output: str = "", **attributes: object
    ) -> str:
        """Adds a node with one output, and returns the output's name."""
        output = output or self._new_name()
        self.nodes.append(self._node(operator, inputs, [output], attributes))
        return output

    def nodes_with_outputs(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object
    ) -> None:
        self.nodes.append(self._node(operator, inputs, outputs, attributes))

    def call(
        self, function: onnx.FunctionProto, inputs: Sequence[str], **attributes: object
    ) -> str:
        """Calls a function of the file with one result."""
        return self.node(function.name, inputs, domain=function.domain, **attributes)

    def output(self, name: str, type_name: str) -> None:
        self.outputs[name] = type_name

    def to_bytes(self, shapes: dict[str, Sequence[int]]) -> bytes:
        outputs = [
            helper.make_tensor_value_info(name, _type(np.dtype(type_name)), shapes.get(name))
            for name, type_name in self.outputs.items()
        ]
        graph = helper.make_graph(
            self.nodes, "case", self.inputs, outputs, initializer=self.initializers
        )
        domains = {node.domain for node in self.nodes} - {""}
        opsets = [helper.make_opsetid("", self.opset)]
        opsets += [helper.make_opsetid(domain, 1) for domain in sorted(domains)]
        model = helper.make_model(
            graph, opset_imports=opsets, functions=self.functions, producer_name="tests/judges"
        )
        model.ir_version = IR_VERSIONS[self.opset]
        return model.SerializeToString(deterministic=True)

    def _node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        attributes: dict[str, object],
    ) -> onnx.NodeProto:
        given = {key: value for key, value in attributes.items() if value is not None}
        name = f"{operator.lower()}_{len(self.nodes)}"
        return helper.make_node(operator, list(inputs), list(outputs), name=name, **given)

    def _new_name(self) -> str:
        self.names += 1
        return f"value_{self.names}"


def _type(dtype: np.dtype) -> int:
    types = {
        "float32": TensorProto.FLOAT,
        "float16": TensorProto.FLOAT16,
        "int8": TensorProto.INT8,
        "uint8": TensorProto.UINT8,
        "int16": TensorProto.INT16,
        "uint16": TensorProto.UINT16,
        "int32": TensorProto.INT32,
        "int64": TensorProto.INT64,
        "bool": TensorProto.BOOL,
    }
    return types[dtype.name]
