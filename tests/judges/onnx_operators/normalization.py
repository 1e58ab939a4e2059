"""Normalization."""

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import image, onnx


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
