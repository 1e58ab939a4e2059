"""Pooling."""

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.convolutions import Window
from onnx_operators.registry import image, onnx


def _window(
    draw: Draw, file: OnnxFile, dilated: bool, ceil: bool
) -> tuple[list[int], dict[str, object]]:
    """The input's shape and the attributes."""
    window = Window(draw, 1 if draw.chance(0.15) else 2, dilated=False)
    if window.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        # Where a stride skips pixels, the runtime's padding may be less than none: it cuts pixels off.
        window.strides = [min(pair) for pair in zip(window.strides, window.kernel)]
    attributes = window.attributes(draw)
    attributes.pop("dilations", None)
    if window.pads is not None:
        # Padding must be smaller than the kernel.
        largest = [k - 1 for k in window.kernel]
        attributes["pads"] = [min(pad, limit) for pad, limit in zip(window.pads, largest * 2)]
    if ceil and window.auto_pad is None and draw.chance(0.35):
        attributes["ceil_mode"] = 1
    if dilated and window.auto_pad is None and "ceil_mode" not in attributes and draw.chance(0.15):
        attributes["dilations"] = [2] * len(window.kernel)
        window.sides = [2 * side + 2 for side in window.sides]
    return [draw.batch(), draw.integer(1, 8), *window.sides], attributes


@onnx("MaxPool", weight=3)
def max_pool(draw: Draw, types: str, file: OnnxFile) -> None:
    shape, attributes = _window(draw, file, dilated=file.opset >= 10, ceil=file.opset >= 10)
    file.node("MaxPool", [file.input("x", draw.floats(shape))], "y", **attributes)
    file.output("y", "float32")


@onnx("AveragePool", weight=3)
def average_pool(draw: Draw, types: str, file: OnnxFile) -> None:
    shape, attributes = _window(draw, file, dilated=False, ceil=file.opset >= 10)
    if draw.chance(0.4):
        attributes["count_include_pad"] = draw.integer(0, 1)
    file.node("AveragePool", [file.input("x", draw.floats(shape))], "y", **attributes)
    file.output("y", "float32")


@onnx("LpPool")
def lp_pool(draw: Draw, types: str, file: OnnxFile) -> None:
    shape, attributes = _window(draw, file, dilated=False, ceil=False)
    attributes["p"] = draw.integer(1, 3)
    file.node("LpPool", [file.input("x", draw.floats(shape))], "y", **attributes)
    file.output("y", "float32")


def _global(name: str, draw: Draw, file: OnnxFile, **attributes: object) -> None:
    shape = image(draw)[: draw.choice([3, 4, 4])]
    file.node(name, [file.input("x", draw.floats(shape))], "y", **attributes)
    file.output("y", "float32")


@onnx("GlobalAveragePool")
def global_average_pool(draw: Draw, types: str, file: OnnxFile) -> None:
    _global("GlobalAveragePool", draw, file)


@onnx("GlobalMaxPool")
def global_max_pool(draw: Draw, types: str, file: OnnxFile) -> None:
    _global("GlobalMaxPool", draw, file)


@onnx("GlobalLpPool")
def global_lp_pool(draw: Draw, types: str, file: OnnxFile) -> None:
    _global("GlobalLpPool", draw, file, p=draw.integer(1, 3))
