"""Reductions over axes, and the index of the largest and smallest element."""

import numpy as np
from onnx import TensorProto

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import image, onnx


def _reduce(name: str, draw: Draw, file: OnnxFile, positive: bool = False) -> None:
    shape = image(draw, sides=(1, 7)) if draw.chance(0.6) else draw.shape((2, 4), (1, 6))
    values = draw.floats(shape)
    inputs = [file.input("x", np.abs(values) + np.float32(0.1) if positive else values)]
    attributes: dict[str, object] = {}
    if draw.chance(0.7):
        attributes["keepdims"] = draw.integer(0, 1)
    if draw.chance(0.9):
        rank = len(shape)
        axes = [2, 3] if rank == 4 and draw.chance(0.5) else draw.subset(range(1, rank))
        if file.opset >= 11 and draw.chance(0.3):
            axes = [axis - rank for axis in axes]
        if name == "ReduceSum" and file.opset >= 13:
            inputs.append(file.integers("axes", axes))
        else:
            attributes["axes"] = axes
    file.node(name, inputs, "y", **attributes)
    file.output("y", "float32")


@onnx("ReduceMean", weight=2)
def reduce_mean(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceMean", draw, file)


@onnx("ReduceSum")
def reduce_sum(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceSum", draw, file)


@onnx("ReduceMax")
def reduce_max(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceMax", draw, file)


@onnx("ReduceMin")
def reduce_min(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceMin", draw, file)


@onnx("ReduceProd")
def reduce_prod(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceProd", draw, file)


@onnx("ReduceL1")
def reduce_l1(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceL1", draw, file)


@onnx("ReduceL2")
def reduce_l2(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceL2", draw, file)


@onnx("ReduceSumSquare")
def reduce_sum_square(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceSumSquare", draw, file)


@onnx("ReduceLogSumExp")
def reduce_log_sum_exp(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceLogSumExp", draw, file)


@onnx("ReduceLogSum")
def reduce_log_sum(draw: Draw, types: str, file: OnnxFile) -> None:
    _reduce("ReduceLogSum", draw, file, positive=True)


def _index(name: str, draw: Draw, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 8))
    # Few different values, so that several elements are the largest.
    values = draw.integers(shape, -3, 3, "int32").astype(np.float32)
    axis = draw.integer(1, len(shape) - 1)
    if file.opset >= 11 and draw.chance(0.3):
        axis -= len(shape)
    attributes: dict[str, object] = {"axis": axis, "keepdims": draw.integer(0, 1)}
    if file.opset >= 12 and draw.chance(0.3):
        attributes["select_last_index"] = 1
    file.node(name, [file.input("x", values)], "y", **attributes)
    file.output("y", "int64")


@onnx("ArgMax")
def arg_max(draw: Draw, types: str, file: OnnxFile) -> None:
    _index("ArgMax", draw, file)


@onnx("ArgMin")
def arg_min(draw: Draw, types: str, file: OnnxFile) -> None:
    _index("ArgMin", draw, file)


@onnx("CumSum", "float32", "int32", oldest=11)
def cumulative_sum(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (1, 6))
    axis = draw.integer(1, len(shape) - 1)
    if draw.chance(0.3):
        axis -= len(shape)
    values = draw.floats(shape) if types == "float32" else draw.integers(shape, -9, 9, "int32")
    attributes = {name: 1 for name in ("exclusive", "reverse") if draw.chance(0.4)}
    x = file.input("x", values)
    file.node("CumSum", [x, file.integers("axis", axis)], "y", **attributes)
    file.output("y", types)


@onnx("OneHot", "int32", "uint8", oldest=9)
def one_hot(draw: Draw, types: str, file: OnnxFile) -> None:
    """Some indices are beyond the ends."""
    shape = draw.shape((1, 3), (1, 5))
    depth = draw.integer(1, 6)
    low = 0 if types == "uint8" else -depth - 1
    x = file.input("x", draw.integers(shape, low, depth, types))
    indices = file.node("Cast", [x], to=TensorProto.INT64)
    values = file.constant("values", draw.floats([2]))
    axis = draw.integer(1, len(shape)) if draw.chance(0.5) else -1
    file.node("OneHot", [indices, file.integers("depth", [depth]), values], "y", axis=axis)
    file.output("y", "float32")
