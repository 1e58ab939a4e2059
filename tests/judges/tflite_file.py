"""Writes a TFLite file operator by operator, with the schema that TensorFlow ships."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import flatbuffers
import numpy as np
from tensorflow.lite.python import schema_py_generated as schema

from cases import Arrays
from draw import INTEGER_RANGES, Draw

ABSENT = -1  # an optional input that is not given

TYPES = {
    "float32": schema.TensorType.FLOAT32,
    "float16": schema.TensorType.FLOAT16,
    "int8": schema.TensorType.INT8,
    "uint8": schema.TensorType.UINT8,
    "int16": schema.TensorType.INT16,
    "int32": schema.TensorType.INT32,
    "int64": schema.TensorType.INT64,
    "bool": schema.TensorType.BOOL,
}


@dataclass
class Quantization:
    """real = scale * (stored - zero point), for the whole tensor or along one axis."""

    scales: list[float]
    zero_points: list[int]
    axis: int = 0


class TfliteFile:
    """A graph under construction. Tensors are numbers; `values` holds what the inputs get."""

    def __init__(self) -> None:
        self.graph = schema.SubGraphT()
        self.graph.name = "main"
        self.graph.tensors, self.graph.operators = [], []
        self.graph.inputs, self.graph.outputs = [], []
        self.codes: list[schema.OperatorCodeT] = []
        self.buffers = [schema.BufferT()]  # the first is empty by definition
        self.values: Arrays = {}

    def input(self, name: str, values: np.ndarray, quantization: Quantization | None = None) -> int:
        tensor = self._tensor(name, values.dtype.name, list(values.shape), quantization, 0)
        self.graph.inputs.append(tensor)
        self.values[name] = values
        return tensor

    def constant(
        self, name: str, values: np.ndarray, quantization: Quantization | None = None
    ) -> int:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.ascontiguousarray(values).tobytes(), dtype=np.uint8)
        self.buffers.append(buffer)
        number = len(self.buffers) - 1
        return self._tensor(name, values.dtype.name, list(values.shape), quantization, number)

    def integers(self, name: str, values: Sequence[int]) -> int:
        """A list of int32: axes, a shape, paddings."""
        return self.constant(name, np.array(values, dtype=np.int32))

    def make_constant(self, tensor: int) -> None:
        """Makes an input the constant of its values."""
        self.graph.inputs.remove(tensor)
        values = self.values.pop(self.graph.tensors[tensor].name.decode())
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.ascontiguousarray(values).tobytes(), dtype=np.uint8)
        self.buffers.append(buffer)
        self.graph.tensors[tensor].buffer = len(self.buffers) - 1

    def make_inner(self, tensor: int) -> int:
        """Makes an output a tensor that only operators read."""
        self.graph.outputs.remove(tensor)
        return tensor

    def variable(
        self,
        name: str,
        type_name: str,
        shape: Sequence[int],
        quantization: Quantization | None = None,
    ) -> int:
        """A state, which is 0 before the first call."""
        number = self._tensor(name, type_name, list(shape), quantization, 0)
        self.graph.tensors[number].isVariable = True
        return number

    def value(self, name: str, type_name: str, quantization: Quantization | None = None) -> int:
        """The result of an operator; the interpreter finds its shape."""
        return self._tensor(name, type_name, [], quantization, 0)

    def output(self, name: str, type_name: str, quantization: Quantization | None = None) -> int:
        tensor = self.value(name, type_name, quantization)
        self.graph.outputs.append(tensor)
        return tensor

    def operator(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str = "",
        version: int = 1,
        **attributes: object,
    ) -> None:
        """Adds an operator; `options` is the schema's table, e.g. "Pool2DOptions"."""
        operator = schema.OperatorT()
        operator.opcodeIndex = self._code(name, version)
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        if options:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            operator.builtinOptions = getattr(schema, options + "T")()
            for key, value in attributes.items():
                member = _camel_case(key)
                if not hasattr(operator.builtinOptions, member):
                    raise ValueError(f"{options} has no {key}")
                setattr(operator.builtinOptions, member, value)
        self.graph.operators.append(operator)

    def set_shape(self, tensor: int, shape: Sequence[int]) -> None:
        self.graph.tensors[tensor].shape = [int(extent) for extent in shape]

    def to_bytes(self) -> bytes:
        model = schema.ModelT()
        model.version = 3
        model.description = "a case of tests/judges"
        model.operatorCodes = self.codes
        model.subgraphs = [copy.copy(self.graph)]
        model.buffers = self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())

    def _tensor(
        self,
        name: str,
        type_name: str,
        shape: list[int],
        quantization: Quantization | None,
        buffer: int,
    ) -> int:
        tensor = schema.TensorT()
        tensor.name = name.encode()
        tensor.type = TYPES[type_name]
        tensor.shape = shape
        tensor.buffer = buffer
        if quantization is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = quantization.scales
            tensor.quantization.zeroPoint = quantization.zero_points
            tensor.quantization.quantizedDimension = quantization.axis
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def _code(self, name: str, version: int) -> int:
        number = getattr(schema.BuiltinOperator, name)
        for index, code in enumerate(self.codes):
            if (code.builtinCode, code.version) == (number, version):
                return index
        code = schema.OperatorCodeT()
        code.builtinCode = number
        code.deprecatedBuiltinCode = min(number, 127)
        code.version = version
        self.codes.append(code)
        return len(self.codes) - 1


def _camel_case(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def any_quantization(
    draw: Draw, type_name: str, largest: float | None = None
) -> Quantization | None:
    """Of an input: a random range that includes 0 nearly always; none for floats."""
    if type_name not in INTEGER_RANGES:
        return None
    largest = largest if largest is not None else 10 ** draw.real(-1, 1)
    return covering(draw, type_name, -largest * draw.real(0, 1), largest, slack=(1.0, 1.0))


def covering(
    draw: Draw,
    type_name: str,
    low: float,
    high: float,
    slack: tuple[float, float] = (0.6, 1.3),
) -> Quantization | None:
    """A quantization for the range low to high times a random factor; none for floats.

    With a factor below 1, the outer values saturate.
    """
    if type_name not in INTEGER_RANGES:
        return None
    factor = draw.real(*slack)
    low, high = min(low * factor, 0.0), max(high * factor, 1e-6)
    least, greatest = INTEGER_RANGES[type_name]
    if type_name == "int16":
        return Quantization([float(np.float32(max(-low, high) / greatest))], [0])
    scale = float(np.float32((high - low) / (greatest - least)))
    zero_point = int(np.clip(round(least - low / scale), least, greatest))
    return Quantization([scale], [zero_point])


def real_range(quantization: Quantization | None, type_name: str) -> tuple[float, float]:
    """The real numbers that a tensor can hold; 3 standard deviations of random floats."""
    if quantization is None:
        return -3.0, 3.0
    least, greatest = INTEGER_RANGES[type_name]
    scale, zero_point = quantization.scales[0], quantization.zero_points[0]
    return scale * (least - zero_point), scale * (greatest - zero_point)
