"""Operators that move numbers without computing: shapes, slices, padding, joins."""

import numpy as np
from onnx import TensorProto, helper

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import image, onnx


def _input(file: OnnxFile, draw: Draw, shape: list[int]) -> str:
    return file.input("x", draw.floats(shape))


def _finish(file: OnnxFile, name: str, inputs: list[str], **attributes: object) -> None:
    file.node(name, inputs, "y", **attributes)
    file.output("y", "float32")


@onnx("Reshape")
def reshape(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 5), (1, 6))
    count = int(np.prod(shape))
    divisor = draw.choice([n for n in range(1, count + 1) if count % n == 0])
    target = draw.choice([[1, count], [1, divisor, count // divisor], [1, -1], [0, -1]])
    _finish(file, "Reshape", [_input(file, draw, shape), file.integers("shape", target)])


@onnx("Shape_arithmetic")
def shape_arithmetic(draw: Draw, types: str, file: OnnxFile) -> None:
    """A flattening as PyTorch exports it: Shape, Gather, Unsqueeze, Concat, Reshape."""
    x = _input(file, draw, image(draw, sides=(1, 6)))
    first = file.node("Gather", [file.node("Shape", [x]), file.integers("zero", 0)], "", axis=0)
    if file.opset < 13:
        first = file.node("Unsqueeze", [first], "", axes=[0])
    else:
        first = file.node("Unsqueeze", [first, file.integers("axes", [0])])
    rest = file.integers("rest", [-1])
    target = file.node("Concat", [first, rest], "", axis=0)
    _finish(file, "Reshape", [x, target])


@onnx("Flatten")
def flatten(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 5), (1, 5))
    attributes = {"axis": draw.integer(0, len(shape))} if draw.chance(0.4) else {}
    _finish(file, "Flatten", [_input(file, draw, shape)], **attributes)


def _axes(file: OnnxFile, axes: list[int], x: str) -> tuple[list[str], dict[str, object]]:
    """Axes as an attribute before opset 13, as an input since."""
    if file.opset < 13:
        return [x], {"axes": axes}
    return [x, file.integers("axes", axes)], {}


@onnx("Squeeze")
def squeeze(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = [1] + [draw.choice([1, draw.integer(2, 6)]) for _ in range(3)] + [draw.integer(2, 6)]
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    x = file.input("x", draw.floats(shape))
    if draw.chance(0.15) and not isinstance(_first_extent(file), str):
        _finish(file, "Squeeze", [x])
        return
    inputs, attributes = _axes(file, draw.subset(ones), x)
    _finish(file, "Squeeze", inputs, **attributes)


def _first_extent(file: OnnxFile) -> int | str:
    extent = file.inputs[0].type.tensor_type.shape.dim[0]
    return extent.dim_param or extent.dim_value


@onnx("Unsqueeze")
def unsqueeze(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((1, 3), (1, 6))
    axes = draw.subset(range(len(shape) + 2))[:2]
    if len(axes) < 2:
        axes = [draw.integer(0, len(shape))]
    inputs, attributes = _axes(file, axes, _input(file, draw, shape))
    _finish(file, "Unsqueeze", inputs, **attributes)


@onnx("Transpose", weight=2)
def transpose(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 5), (1, 6))
    order = draw.permutation(len(shape))
    if draw.chance(0.5):
        order = [0] + [axis + 1 for axis in draw.permutation(len(shape) - 1)]
    attributes = {"perm": order} if draw.chance(0.85) else {}
    _finish(file, "Transpose", [_input(file, draw, shape)], **attributes)


@onnx("Expand", oldest=8)
def expand(draw: Draw, types: str, file: OnnxFile) -> None:
    target = draw.shape((2, 4), (1, 5))
    source = [extent if draw.chance(0.5) else 1 for extent in target]
    source = source[draw.integer(0, len(source) - 1) :]
    _finish(file, "Expand", [_input(file, draw, source), file.integers("shape", target)])


@onnx("Tile")
def tile(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 5))
    repeats = [1] + [draw.integer(1, 3) for _ in shape[1:]]
    _finish(file, "Tile", [_input(file, draw, shape), file.integers("repeats", repeats)])


@onnx("DepthToSpace")
def depth_to_space(draw: Draw, types: str, file: OnnxFile) -> None:
    block = draw.integer(2, 3)
    shape = image(draw, sides=(1, 5), channels=(1, 4))
    shape[1] *= block * block
    attributes: dict[str, object] = {"blocksize": block}
    if file.opset >= 11 and draw.chance(0.6):
        attributes["mode"] = draw.choice(["DCR", "CRD"])
    _finish(file, "DepthToSpace", [_input(file, draw, shape)], **attributes)


@onnx("SpaceToDepth")
def space_to_depth(draw: Draw, types: str, file: OnnxFile) -> None:
    block = draw.integer(2, 3)
    batch, channels, height, width = image(draw, sides=(1, 4), channels=(1, 4))
    shape = [batch, channels, height * block, width * block]
    _finish(file, "SpaceToDepth", [_input(file, draw, shape)], blocksize=block)


@onnx("Concat", weight=2)
def concat(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    axis = draw.integer(1, len(shape) - 1)
    tensors = []
    for index in range(draw.integer(1, 4)):
        part = [*shape]
        part[axis] = draw.integer(1, 6)
        if index > 0 and draw.chance(0.2):
            tensors.append(file.constant(f"c{index}", draw.floats(part)))
        else:
            tensors.append(file.input(f"x{index}", draw.floats(part)))
    if file.opset >= 11 and draw.chance(0.4):
        axis -= len(shape)
    _finish(file, "Concat", tensors, axis=axis)


@onnx("Pad", weight=2)
def pad(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (2, 7))
    mode = draw.choice(["constant", "constant", "reflect", "edge"])
    largest = [0] + [min(extent - 1, 3) for extent in shape[1:]]
    pads = [draw.integer(0, limit) for limit in largest + largest]
    if mode == "constant" and draw.chance(0.2):
        pads[-1] = -1 if shape[-1] > 1 else 0
    x = _input(file, draw, shape)
    value = draw.choice([0.0, draw.real(-2, 2)])
    if file.opset < 11:
        _finish(file, "Pad", [x], mode=mode, pads=pads, value=value)
        return
    inputs = [x, file.integers("pads", pads)]
    if mode == "constant" and value != 0:
        inputs.append(file.constant("value", np.array(value, dtype=np.float32)))
    _finish(file, "Pad", inputs, mode=mode)


@onnx("Slice", weight=2)
def slice_(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (2, 8))
    axes = draw.subset(range(1, len(shape)))
    starts, ends, steps = [], [], []
    for axis in axes:
        extent = shape[axis]
        step = draw.choice([1, 1, 2, 3, -1, -2]) if file.opset >= 10 else 1
        first, last = sorted([draw.integer(0, extent - 1), draw.integer(0, extent - 1)])
        if step < 0:
            first, last = last, first
        stop = last + (1 if step > 0 else -1)
        if stop < 0:
            stop = -extent - 1
        elif step > 0 and stop == extent and draw.chance(0.5):
            stop = 2**31 - 1 if draw.chance(0.5) else 2**63 - 1
        starts.append(first - extent if draw.chance(0.2) else first)
        ends.append(stop)
        steps.append(step)
    x = _input(file, draw, shape)
    if file.opset < 10:
        _finish(file, "Slice", [x], axes=axes, starts=starts, ends=ends)
        return
    inputs = [x, file.integers("starts", starts), file.integers("ends", ends)]
    inputs.append(file.integers("axes", axes))
    if any(step != 1 for step in steps) or draw.chance(0.3):
        inputs.append(file.integers("steps", steps))
    _finish(file, "Slice", inputs)


@onnx("Split")
def split(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 5))
    axis = draw.integer(1, len(shape) - 1)
    sizes = [draw.integer(1, 4) for _ in range(draw.integer(1, 4))]
    equal = draw.chance(0.4)
    if equal:
        sizes = [sizes[0]] * len(sizes)
    shape[axis] = sum(sizes)
    outputs = [f"y{index}" for index in range(len(sizes))]
    inputs = [_input(file, draw, shape)]
    attributes: dict[str, object] = {"axis": axis}
    if not equal and file.opset < 13:
        attributes["split"] = sizes
    elif not equal:
        inputs.append(file.integers("split", sizes))
    file.nodes_with_outputs("Split", inputs, outputs, **attributes)
    for output in outputs:
        file.output(output, "float32")


@onnx("Gather")
def gather(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (2, 7))
    axis = draw.integer(1, len(shape) - 1)
    indices_shape = draw.choice([[], [draw.integer(1, 5)], [2, draw.integer(1, 3)]])
    low = -shape[axis] if file.opset >= 11 and draw.chance(0.3) else 0
    indices = draw.integers(indices_shape, low, shape[axis] - 1, "int64")
    inputs = [_input(file, draw, shape), file.constant("indices", indices)]
    _finish(file, "Gather", inputs, axis=axis)


@onnx("ConstantOfShape", oldest=9)
def constant_of_shape(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape()
    target = file.integers("shape", shape)
    value = helper.make_tensor("value", 1, [1], [draw.real(-2, 2)])
    filled = file.node("ConstantOfShape", [target], "", value=value)
    _finish(file, "Add", [_input(file, draw, shape), filled])


@onnx("Size")
def size(draw: Draw, types: str, file: OnnxFile) -> None:
    """A mean whose divisor is computed from the input's shape."""
    x = _input(file, draw, draw.shape())
    count = file.node("Cast", [file.node("Size", [x])], "", to=TensorProto.FLOAT)
    _finish(file, "Div", [x, count])


@onnx("Range", oldest=11)
def range_(draw: Draw, types: str, file: OnnxFile) -> None:
    """Positions along the last axis, up to an extent of the input."""
    shape = draw.shape()
    x = _input(file, draw, shape)
    last = file.integers("last", len(shape) - 1)
    extent = file.node("Gather", [file.node("Shape", [x]), last], "", axis=0)
    if draw.chance(0.5):
        step = draw.choice([1, 2, -1])
        count = file.node("Mul", [extent, file.integers("step", step)])
        numbers = file.node("Range", [file.integers("first", 0), count, "step"])
    else:
        # Of real numbers, with an end between two of them.
        step = draw.choice([0.5, 1.25])
        limits = np.array([1, 1 + step * (shape[-1] - 0.5), step], dtype=np.float32)
        names = [file.constant(f"limit_{index}", limit) for index, limit in enumerate(limits)]
        numbers = file.node("Range", names)
    positions = file.node("Cast", [numbers], "", to=TensorProto.FLOAT)
    _finish(file, "Add", [x, positions])
