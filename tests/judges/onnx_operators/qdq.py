"""Work between DequantizeLinear and QuantizeLinear, which `sim` does on integers where it can."""

from collections.abc import Callable, Sequence

import numpy as np

import onnx_runtime
from draw import INTEGER_RANGES, Draw
from onnx_file import OnnxFile
from onnx_operators.convolutions import Window
from onnx_operators.registry import onnx

ALL_TYPES = ("uint8", "int8", "uint16", "int16")

# Operators with one result in float32, whatever the order of the work.
EXACT = {
    *("QuantizeLinear", "DequantizeLinear", "Mul", "Add", "Sub", "Relu", "MaxPool", "Concat"),
    *("Transpose", "Reshape", "Pad", "Slice"),
}


class QdqGraph:
    """A graph under construction. Its tensors of real numbers come from stored integers."""

    def __init__(self, draw: Draw, types: str, file: OnnxFile) -> None:
        self.draw, self.types, self.file = draw, types, file
        self.scales: dict[str, np.ndarray] = {}  # of the inputs, by name

    def input(self, name: str, shape: Sequence[int]) -> str:
        """An input of integers over the whole range of their type, or of real numbers."""
        scale = self._scale(10 ** self.draw.real(-3, -1))
        self.scales[name] = scale
        zero = self._zero_point()
        parameters = self._parameters(name, scale, zero)
        stored = self.draw.stored(shape, self.types)
        if self.draw.chance(0.7):
            given = self.file.input(name, stored)
        else:
            reals = (stored.astype(np.float32) - np.float32(zero)) * scale
            if self.draw.chance(0.5):
                reals += self.draw.floats(shape, 0.3) * scale
            else:
                reals = self.draw.halves(stored.astype(np.float32) - np.float32(zero), scale)
            given = self.file.node("QuantizeLinear", [self.file.input(name, reals), *parameters])
        return self.file.node("DequantizeLinear", [given, *parameters])

    def constant(self, name: str, shape: Sequence[int]) -> str:
        """A constant of integers over the whole range of their type."""
        scale = self._scale(10 ** self.draw.real(-3, -1))
        parameters = self._parameters(name, scale, self._zero_point())
        given = self.file.constant(name, self.draw.stored(shape, self.types))
        return self.file.node("DequantizeLinear", [given, *parameters])

    def weights(self, shape: Sequence[int], axis: int | None) -> tuple[str, np.ndarray]:
        """int8 weights with one scale, or one for each index of an axis; and the scales."""
        count = [] if axis is None or self.draw.chance(0.4) else [shape[axis]]
        scales = self.draw.positive_floats(count, 0.002, 0.02).reshape(count)
        zeros = np.zeros(count, dtype=np.int8)
        stored = self.file.constant("w", self.draw.integers(shape, -127, 127, "int8"))
        parameters = self._parameters("w", scales, zeros)
        attributes = {"axis": axis} if count else {}
        return self.file.node("DequantizeLinear", [stored, *parameters], **attributes), scales

    def bias(self, count: int, scales: np.ndarray) -> str:
        """An int32 bias with the scales of the sums."""
        stored = self.file.constant("b", self.draw.integers([count], -20000, 20000, "int32"))
        zeros = np.zeros(scales.shape, dtype=np.int32)
        attributes = {"axis": 0} if scales.size > 1 else {}
        parameters = self._parameters("b", scales, zeros)
        return self.file.node("DequantizeLinear", [stored, *parameters], **attributes)

    def output(self, real: str) -> None:
        """Stores a tensor of real numbers with a range that is about that of its numbers."""
        values = self._computed(real)
        low, high = INTEGER_RANGES[self.types]
        least, most = min(0.0, float(values.min())), max(0.0, float(values.max()), 1e-6)
        # A smaller range than the results have lets some saturate.
        scale = self._scale((most - least) * self.draw.real(0.7, 1.3) / (high - low))
        zero = self._zero_point(low - least / float(scale))
        parameters = self._parameters("y", scale, zero)
        # Of 16 bits, float32 sums in another order, and functions, are some quanta off: reals are compared.
        is_exact = {node.op_type for node in self.file.nodes} <= EXACT
        if (self.types in ("uint8", "int8") or is_exact) and self.draw.chance(0.6):
            self.file.node("QuantizeLinear", [real, *parameters], "y")
            self.file.output("y", self.types)
            return
        stored = self.file.node("QuantizeLinear", [real, *parameters])
        self.file.node("DequantizeLinear", [stored, *parameters], "y")
        self.file.output("y", "float32")

    def _scale(self, wanted: float) -> np.ndarray:
        """About the wanted scale: at times a power of two, with which exact halves are frequent."""
        return self.draw.powers_at_times(np.array(wanted, dtype=np.float32))

    def _computed(self, real: str) -> np.ndarray:
        self.file.output(real, "float32")
        values = onnx_runtime.run(self.file.to_bytes({}), self.file.values)[real]
        del self.file.outputs[real]
        return values

    def _zero_point(self, wanted: float | None = None) -> np.ndarray:
        low, high = INTEGER_RANGES[self.types]
        if self.types == "int16" and self.draw.chance(0.5):
            return np.array(0, dtype=self.types)
        if wanted is None:
            return self.draw.stored([], self.types).reshape(())
        return np.array(np.clip(np.rint(wanted), low, high), dtype=self.types)

    def _parameters(self, name: str, scale: np.ndarray, zero: np.ndarray) -> list[str]:
        return [
            self.file.constant(f"{name}_scale", np.asarray(scale, dtype=np.float32)),
            self.file.constant(f"{name}_zero", zero),
        ]


Work = Callable[[QdqGraph], str]


def qdq(name: str, *types: str, oldest: int = 13, weight: int = 1) -> Callable[[Work], Work]:
    """Registers a function that adds the work, and returns its result."""

    def register(work: Work) -> Work:
        def make(draw: Draw, types: str, file: OnnxFile) -> None:
            graph = QdqGraph(draw, types, file)
            graph.output(work(graph))

        onnx(f"QDQ_{name}", *(types or ALL_TYPES), oldest=oldest, weight=weight)(make)
        return work

    return register


def _image(graph: QdqGraph) -> list[int]:
    draw = graph.draw
    return [draw.batch(), draw.integer(1, 8), draw.integer(2, 9), draw.integer(2, 9)]


def _pair(name: str, graph: QdqGraph) -> str:
    """Two tensors, mostly of one shape, with which the chip computes."""
    draw = graph.draw
    shape = _image(graph) if draw.chance(0.7) else [1, draw.integer(2, 300)]
    other = draw.broadcast_from(shape) if draw.chance(0.2) else shape
    result = graph.file.node(name, [graph.input("a", shape), graph.input("b", other)])
    return graph.file.node("Relu", [result]) if draw.chance(0.2) else result


@qdq("Mul", weight=3)
def multiply(graph: QdqGraph) -> str:
    return _pair("Mul", graph)


@qdq("Sum", weight=2)
def add(graph: QdqGraph) -> str:
    return _pair("Add", graph)


@qdq("Sub")
def subtract(graph: QdqGraph) -> str:
    return _pair("Sub", graph)


@qdq("Convolution", weight=3)
def convolution(graph: QdqGraph) -> str:
    draw = graph.draw
    window = Window(draw, 2)
    depthwise = draw.chance(0.3)
    channels = draw.integer(1, 9)
    filters = channels if depthwise else draw.integer(1, 9)
    x = graph.input("x", [draw.batch(), channels, *window.sides])
    shape = [filters, 1 if depthwise else channels, *window.kernel]
    weights, scales = graph.weights(shape, 0)
    tensors = [x, weights]
    if draw.chance(0.7):
        tensors.append(graph.bias(filters, (graph.scales["x"] * scales).astype(np.float32)))
    attributes = window.attributes(draw)
    attributes["group"] = channels if depthwise else 1
    result = graph.file.node("Conv", tensors, **attributes)
    return graph.file.node("Relu", [result]) if draw.chance(0.3) else result


@qdq("MatMul", weight=2)
def matmul(graph: QdqGraph) -> str:
    draw = graph.draw
    size, units = draw.integer(1, 40), draw.integer(1, 33)
    x = graph.input("x", [draw.integer(1, 3), size])
    weights, _ = graph.weights([size, units], 1)
    return graph.file.node("MatMul", [x, weights])


@qdq("GlobalAveragePool")
def global_average(graph: QdqGraph) -> str:
    return graph.file.node("GlobalAveragePool", [graph.input("x", _image(graph))])


@qdq("AveragePool")
def average(graph: QdqGraph) -> str:
    kernel = [graph.draw.integer(1, 2), graph.draw.integer(1, 2)]
    x = graph.input("x", _image(graph))
    return graph.file.node("AveragePool", [x], kernel_shape=kernel, strides=kernel)


@qdq("MaxPool")
def max_pool(graph: QdqGraph) -> str:
    kernel = [graph.draw.integer(1, 2), graph.draw.integer(1, 2)]
    return graph.file.node("MaxPool", [graph.input("x", _image(graph))], kernel_shape=kernel)


@qdq("Concat")
def concat(graph: QdqGraph) -> str:
    shape = _image(graph)
    other = [shape[0], graph.draw.integer(1, 5), *shape[2:]]
    add = graph.constant if graph.draw.chance(0.2) else graph.input
    return graph.file.node("Concat", [graph.input("a", shape), add("b", other)], axis=1)


@qdq("function", oldest=14, weight=2)
def function(graph: QdqGraph) -> str:
    names = ["Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Abs"]
    return graph.file.node(graph.draw.choice(names), [graph.input("x", _image(graph))])


@qdq("moved")
def moved(graph: QdqGraph) -> str:
    """Elements in another order, or a part of them."""
    draw, file = graph.draw, graph.file
    shape = _image(graph)
    x = graph.input("x", shape)
    kind = draw.integer(0, 3)
    if kind == 0:
        return file.node("Transpose", [x], perm=[0, *(1 + axis for axis in draw.permutation(3))])
    if kind == 1:
        return file.node("Reshape", [x, file.integers("shape", [shape[0], -1])])
    if kind == 2:
        pads = [0, 0, 1, draw.integer(0, 2), 0, 0, draw.integer(0, 2), 1]
        return file.node("Pad", [x, file.integers("pads", pads)])
    bounds = {"starts": 1, "ends": shape[2], "axes": 2}
    return file.node("Slice", [x, *(file.integers(name, [n]) for name, n in bounds.items())])


@qdq("Softmax")
def softmax(graph: QdqGraph) -> str:
    return graph.file.node("Softmax", [graph.input("x", [1, graph.draw.integer(2, 30)])], axis=-1)
