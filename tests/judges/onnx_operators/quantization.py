"""From real numbers to integers and back."""

import numpy as np

from draw import INTEGER_RANGES, Draw
from onnx_file import OnnxFile
from onnx_operators.registry import onnx


def _parameters(
    draw: Draw, file: OnnxFile, types: str, shape: list[int]
) -> tuple[list[str], dict[str, object], np.ndarray]:
    """Scale and zero point, along one axis at times (since opset 13)."""
    count, attributes = [], {}
    if file.opset >= 13 and len(shape) > 1 and draw.chance(0.4):
        axis = draw.integer(1, len(shape) - 1)
        count, attributes = [shape[axis]], {"axis": axis}
    scales = draw.powers_at_times(draw.positive_floats(count, 0.005, 0.05).reshape(count))
    scale = file.constant("scale", scales)
    zero = file.constant("zero", draw.stored(count, types).reshape(count))
    return [scale, zero], attributes, scales


@onnx("QuantizeLinear", "uint8", "int8", "uint16", "int16", oldest=10, weight=2)
def quantize_linear(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 9))
    parameters, attributes, scales = _parameters(draw, file, types, shape)
    # Over the whole range of the type, and beyond it.
    low, high = INTEGER_RANGES[types]
    reals = draw.floats(shape, (high - low) * 0.005)
    if scales.ndim == 0 and draw.chance(0.5):
        reals = draw.halves(np.rint(reals / scales), scales)
    x = file.input("x", reals)
    file.node("QuantizeLinear", [x, *parameters], "y", **attributes)
    file.output("y", types)


@onnx("DequantizeLinear", "uint8", "int8", "uint16", "int16", "int32", oldest=10, weight=2)
def dequantize_linear(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 9))
    parameters, attributes, _ = _parameters(draw, file, types, shape)
    if types == "int32":
        parameters.pop()  # its zero point must be 0
    x = file.input("x", draw.stored(shape, types))
    file.node("DequantizeLinear", [x, *parameters], "y", **attributes)
    file.output("y", "float32")


@onnx("DequantizeLinear_blocks", "uint4", "int4", "uint8", "int8", oldest=21, newest=21, weight=2)
def dequantize_blocks(draw: Draw, types: str, file: OnnxFile) -> None:
    """Weights with a scale for each block along an axis, or of 4 bits with fewer scales."""
    shape = [draw.integer(1, 24), draw.integer(1, 9)]
    axis = draw.integer(0, 1)
    block = draw.integer(1, shape[axis])
    scales = [*shape]
    scales[axis] = -(-shape[axis] // block)
    attributes: dict[str, int] = {"axis": axis, "block_size": block}
    if draw.chance(0.3):
        scales, attributes = [shape[axis]], {"axis": axis}
    if draw.chance(0.2):
        scales, attributes = [], {}
    is_nibble = types.endswith("4")
    low, high = {"uint4": (0, 15), "int4": (-8, 7)}.get(types) or INTEGER_RANGES[types]
    stored_type = {"uint4": "uint8", "int4": "int8"}.get(types, types)

    def constant(name: str, extents: list[int]) -> str:
        values = draw.integers(extents, low, high, stored_type).reshape(extents)
        return file.nibbles(name, values, types) if is_nibble else file.constant(name, values)

    factors = draw.positive_floats(scales, 0.005, 0.05).reshape(scales)
    names = [constant("w", shape), file.constant("scale", factors)]
    if draw.chance(0.7):
        names.append(constant("zero", scales))
    x = file.input("x", draw.floats([1, shape[0]]))
    file.node("MatMul", [x, file.node("DequantizeLinear", names, **attributes)], "y")
    file.output("y", "float32")


@onnx("DynamicQuantizeLinear", "uint8", oldest=11)
def dynamic_quantize_linear(draw: Draw, types: str, file: OnnxFile) -> None:
    x = file.input("x", draw.floats(draw.shape((2, 4), (1, 9))) + np.float32(draw.real(-2, 2)))
    file.nodes_with_outputs("DynamicQuantizeLinear", [x], ["q", "scale", "zero"])
    file.node("DequantizeLinear", ["q", "scale", "zero"], "y")
    file.output("y", "float32")
