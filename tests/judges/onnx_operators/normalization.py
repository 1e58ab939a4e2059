"""Normalization."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import image, onnx

RUNTIME = "com.microsoft"


def _epsilon(draw: Draw) -> dict[str, object]:
    return {"epsilon": 10 ** draw.real(-6, -2)} if draw.chance(0.7) else {}


def _parameter(draw: Draw, file: OnnxFile, name: str, values: np.ndarray) -> str:
    """A constant or, at times, an input."""
    return file.input(name, values) if draw.chance(0.2) else file.constant(name, values)


@onnx("BatchNormalization", weight=2)
def batch_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = image(draw, sides=(1, 8))[: draw.choice([2, 3, 4, 4])]
    channels = [shape[1]]
    inputs = [
        file.input("x", draw.floats(shape)),
        file.constant("scale", draw.positive_floats(channels, 0.3, 2)),
        file.constant("bias", draw.floats(channels)),
        file.constant("mean", draw.floats(channels)),
        file.constant("variance", draw.positive_floats(channels, 0.2, 3)),
    ]
    attributes = {"epsilon": 10 ** draw.real(-6, -2)} if draw.chance(0.7) else {}
    file.node("BatchNormalization", inputs, "y", **attributes)
    file.output("y", "float32")


@onnx("InstanceNormalization")
def instance_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = image(draw, sides=(2, 8))[: draw.choice([3, 4, 4])]
    inputs = [
        file.input("x", draw.floats(shape)),
        file.constant("scale", draw.positive_floats([shape[1]], 0.3, 2)),
        file.constant("bias", draw.floats([shape[1]])),
    ]
    attributes = {"epsilon": 10 ** draw.real(-6, -2)} if draw.chance(0.7) else {}
    file.node("InstanceNormalization", inputs, "y", **attributes)
    file.output("y", "float32")


@onnx("GroupNormalization", oldest=21, newest=21)
def group_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    # ONNX takes its definition of opset 18 back, so that the runtime refuses it.
    groups = draw.integer(1, 4)
    shape = image(draw, sides=(2, 6))[: draw.choice([3, 4, 4])]
    shape[1] = groups * draw.integer(1, 3)
    inputs = [
        file.input("x", draw.floats(shape)),
        _parameter(draw, file, "scale", draw.positive_floats([shape[1]], 0.3, 2)),
        _parameter(draw, file, "bias", draw.floats([shape[1]])),
    ]
    file.node("GroupNormalization", inputs, "y", num_groups=groups, **_epsilon(draw))
    file.output("y", "float32")


def _last_axes(operator: str, results: list[str], draw: Draw, file: OnnxFile) -> None:
    """A node that normalizes the last axes, at times with its further results."""
    # Of few elements, a variance may be so small that the runtime, which computes it in float32, is off.
    shape = draw.shape((2, 4), (5, 8))
    axis = draw.integer(1, len(shape) - 1)
    inputs = [
        file.input("x", draw.floats(shape)),
        _parameter(draw, file, "scale", draw.floats(shape[axis:])),
    ]
    if operator == "LayerNormalization" and draw.chance(0.7):
        inputs.append(_parameter(draw, file, "bias", draw.floats(shape[axis:])))
    attributes = {"axis": draw.choice([axis, axis - len(shape)]), **_epsilon(draw)}
    if axis == len(shape) - 1 and draw.chance(0.3):
        del attributes["axis"]
    if draw.chance(0.7):
        results = results[:1]
    file.nodes_with_outputs(operator, inputs, results, **attributes)
    for result in results:
        file.output(result, "float32")


@onnx("LayerNormalization", oldest=17, weight=2)
def layer_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    _last_axes("LayerNormalization", ["y", "mean", "reciprocal"], draw, file)


# The runtime's name of RMSNormalization, which is ONNX's own only since opset 23.
@onnx("SimplifiedLayerNormalization")
def simplified_layer_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    _last_axes("SimplifiedLayerNormalization", ["y", "reciprocal"], draw, file)


@onnx("RMSNormalization")
def rms_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    _last_axes("SimplifiedLayerNormalization", ["y"], draw, file)
    file.newer_name = ("SimplifiedLayerNormalization", "RMSNormalization", 23)


def _with_skip(operator: str, draw: Draw, file: OnnxFile) -> None:
    """A node that adds a second input, and at times a bias, before it normalizes the last axis."""
    shape = draw.shape((3, 3), (2, 8))
    inputs = [
        file.input("x", draw.floats(shape)),
        file.input("skip", draw.floats(shape)),
        _parameter(draw, file, "gamma", draw.floats(shape[-1:])),
    ]
    optional = ["bias"] if "Simplified" in operator else ["beta", "bias"]
    for name in optional:
        given = draw.chance(0.6)
        inputs.append(_parameter(draw, file, name, draw.floats(shape[-1:])) if given else "")
    results = ["y", "", "", "sum"] if draw.chance(0.5) else ["y"]
    file.nodes_with_outputs(operator, inputs, results, domain=RUNTIME, **_epsilon(draw))
    for result in filter(None, results):
        file.output(result, "float32")


@onnx("SkipLayerNormalization", oldest=10)
def skip_layer_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    _with_skip("SkipLayerNormalization", draw, file)


@onnx("SkipSimplifiedLayerNormalization", oldest=10)
def skip_simplified_layer_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    _with_skip("SkipSimplifiedLayerNormalization", draw, file)


@onnx("LRN")
def local_response_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    x = file.input("x", draw.floats(image(draw, sides=(1, 6), channels=(1, 12))))
    attributes: dict[str, object] = {"size": draw.choice([1, 3, 5, 7])}
    if draw.chance(0.6):
        attributes.update(alpha=draw.real(1e-4, 1), beta=draw.real(0.5, 1), bias=draw.real(0.5, 2))
    file.node("LRN", [x], "y", **attributes)
    file.output("y", "float32")


@onnx("LpNormalization")
def lp_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = draw.shape((2, 4), (2, 7))
    attributes = {"axis": draw.integer(1, len(shape) - 1), "p": draw.integer(1, 2)}
    file.node("LpNormalization", [file.input("x", draw.floats(shape))], "y", **attributes)
    file.output("y", "float32")


@onnx("MeanVarianceNormalization", oldest=9)
def mean_variance_normalization(draw: Draw, types: str, file: OnnxFile) -> None:
    # Of equal elements, such as a single one, ONNX says 0, and the runtime not a number.
    x = file.input("x", draw.floats(image(draw, sides=(2, 7), channels=(2, 9))))
    # The default axes are 0, 2 and 3.
    axes = draw.choice([[2, 3], [1, 2, 3], [1], [-1], [0, 2, 3], None])
    file.node("MeanVarianceNormalization", [x], "y", **({} if axes is None else {"axes": axes}))
    file.output("y", "float32")
